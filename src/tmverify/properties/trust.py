"""What answers rest on, in words; ``docs/trust.md`` says it at length. Engines declare it of proofs."""

CHECKED = ("the checker tools/tmcheck.py, once it accepts the certificate", "the model file", "Python")
REPLAYED = ("the plain evaluator (tmverify.model.evaluate)", "NumPy")
NETWORK_REPLAYED = ("the plain evaluator of networks (tmverify.bnn.evaluate)", "NumPy")
NO_CERTIFICATE = "no certificate: "  # begins the detail of an answer that is right, but has no evidence

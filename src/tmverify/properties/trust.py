"""What answers rest on, in words (see ``docs/trust.md``); for proofs, the engines declare it."""

CHECKED = ("the checker tmcheck, once it accepts the certificate", "the model file", "Python")
REPLAYED = ("the plain evaluator (tmverify.model.evaluate)", "NumPy")
NETWORK_REPLAYED = ("the plain evaluator of networks (tmverify.bnn.evaluate)", "NumPy")
HITTING_SETS = ("the smallest hitting sets of PySAT (Hitman, RC2)",)
NO_CERTIFICATE = "no certificate: "  # begins the detail of an answer that stands, but has no evidence

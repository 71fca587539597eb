"""tmcheck: does a certificate prove its claim about a model? Needs nothing but Python.

A certificate is text. Its first line is the claim, as JSON; then come the inputs it is about, witnesses, and
*refutations*: proofs that some constraints on votes can't hold together near an input. About a binarized
network they are *shells*: proofs that no input so many flips away is decided otherwise. All arithmetic is in
Python's integers. The format, and why each step is right, is written down in docs/certificates.md; names in
this package are the names there.

Nothing of tmverify is imported. To read it, bottom up:

    errors, limits, strict        how a check fails, what files may ask for, strict JSON
    space, model, network         columns and values, machines and networks, the model file
    reader, claim, words          the lines of a certificate, its claim, the claim in words
    region, ways                  which inputs a claim is about, which constraints violate it
    hitting, reason               reasons for a decision, and what witnesses show of them
    property, joint, statement    properties that people state, of one input or of two
    multipliers, flips            the problem over flips, its branches and its bound
    moves, branches               the same over moves of columns, at costs within a budget
    surroundings, rewriting       the problem that a refutation is about, made of the model's clauses
    refutation                    its steps
    cnf, formula, lrat            clausal proofs
    shell                         shells of a network
    subject, check, cli           what is shown about an input, about all of them, the command
"""

from tmcheck.check import check, model_bytes, opened
from tmcheck.claim import FORMAT, VERSION
from tmcheck.errors import Refused, Unreadable
from tmcheck.model import read_model
from tmcheck.words import in_words

__all__ = [
    "FORMAT",
    "VERSION",
    "Refused",
    "Unreadable",
    "check",
    "in_words",
    "model_bytes",
    "opened",
    "read_model",
]

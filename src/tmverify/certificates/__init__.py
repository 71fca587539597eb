"""Certificates: evidence for an answer that anyone can check without trusting this program.

``tmcheck`` is the checker, one file that needs nothing but Python (it is ``tools/tmcheck.py``);
``certificate`` is what it reads; ``claims`` makes one from a Query and its answer. This imports no engine.
"""

from tmverify.certificates.certificate import Certificate

__all__ = ["Certificate"]

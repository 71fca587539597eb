"""Certificates: evidence for an answer that anyone can check without trusting this program.

``certificate`` is what the checker reads, the package ``tmcheck``, which needs nothing but Python and imports
nothing of tmverify; ``claims`` makes one from a Query and its answer. This imports no engine.
"""

from tmverify.certificates.certificate import Certificate

__all__ = ["Certificate"]

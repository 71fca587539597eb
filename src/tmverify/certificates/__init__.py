"""Why an answer can be believed: evidence that anyone can check without believing us.

``tmcheck`` is the checker, one file that needs nothing but Python (it is ``tools/tmcheck.py``);
``certificate`` is what it reads, ``claims`` makes one of a Query and its answer. No engine is imported here.
"""

from tmverify.certificates.certificate import Certificate

__all__ = ["Certificate"]

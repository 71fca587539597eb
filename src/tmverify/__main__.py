"""``python -m tmverify``: the command line."""

import sys

from tmverify.cli import main

sys.exit(main())

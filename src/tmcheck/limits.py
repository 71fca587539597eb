"""What files may ask for, so that memory is bounded by the model and not by what a certificate says.

Other modules look at these names when they need them; they are the table in docs/certificates.md.
"""

from __future__ import annotations

# Files and lines
LARGEST_MODEL = 1 << 30  # bytes
LONGEST_HEADER = 1 << 26
LONGEST_LINE = 1 << 26
LONGEST_CLAIM = 1 << 23  # a mask of the features takes up to 1 << 22
LARGEST_NUMBER, LONGEST_NUMBER = 1 << 62, 20  # characters, of its negative
MOST_NUMBERS = 1 << 19  # in a list

# Models
MOST_FEATURES, MOST_CLASSES = 1 << 24, 1 << 16
MOST_PIXELS, MOST_SIDE = 1 << 20, 1 << 14  # of the images of a space; of one side of an image
MOST_WIDTH, MOST_BLOCKS, MOST_BIAS = 1 << 16, 64, (1 << 31) - 1  # of a network

# Claims
LARGEST_COST = 1 << 31  # epsilon and radius are below it
LARGEST_FACTOR = 1 << 20  # what a rule multiplies the cost of a change by
MOST_APART = 1024  # lists of columns that may not all change
MOST_SETS_APART = 100_000  # sets of columns looked at, to see that refutations cover a region
MOST_REASONS = 1 << 16  # columns of a reason
MOST_DIFFERING = 2_000_000  # columns in which witnesses of a smallest reason differ, and 8 for each: 100 MB
MOST_CELLS = 1 << 30  # such witnesses times the columns in which any of them differs, a bit each: 128 MB
MOST_HITTING = 200_000_000  # sets looked at, to see that no smaller reason is there: some 30 s
MOST_WAITING = 20_000_000  # sets that a search for a smaller reason comes back to: 160 MB
MOST_MARGIN = 1 << 31  # votes
MOST_COMPARED = 64  # classes of two models: there is a way to disagree for each pair
MOST_DISTINCT = 1 << 21  # inputs, of which it is counted how many are distinct: some 300 MB

# Properties
LARGEST_VOTES = 1 << 32  # factors and bounds of votes are below it
DEEPEST, MOST_PARTS = 128, 1 << 16  # of a formula
MOST_CASES, MOST_CLAUSES = 4096, 20_000  # ways to violate a property; clauses of a condition
MOST_CONDITIONS = 1_000_000  # constraints of the cases, and of those that they are made of: some 250 MB
MOST_JOINED, MOST_WAYS = 20_000_000, 1 << 29  # ways of conditions that are joined: some 30 s; bytes of them
MOST_VOTES = 1 << 25  # of clauses for rows of conditions: 256 MB

# Refutations
MOST_CONSTRAINTS, MOST_TERMS = 1 << 18, 1 << 20  # one of two rows has three terms and commas
MOST_KEPT = 4_000_000  # constraints, literals and columns of refutations, and 8 for each: some 200 MB
MOST_OPTIONS = 1 << 22  # of the columns that the clauses look at, if some have several: some 300 MB
MOST_PLACES = 1 << 30  # options, for every set of them that some clause asks for, a bit each: 128 MB
LARGEST_UNIT = 1 << 30

# Clausal proofs
MOST_ADDED = 8_000_000  # literals of clauses that a clausal proof adds, and 4 for each: some 300 MB
LARGEST_FORMULA = 6_000_000  # literals, some 400 MB

# Networks
MOST_OPEN = 20  # neurons of the first block, for 'patterns'
# What 'enumerate' may take: flips, neurons of the first block, sets of flips, patterns, evaluated neurons.
MOST_FLIPS, MOST_CHANGING, MOST_SETS, MOST_PATTERNS, MOST_WORK = 32, 4096, 1_000_000, 1_000_000, 500_000_000

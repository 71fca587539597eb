"""What the bits of a model mean: columns in the user's words, and how raw values become bits and back.

::

    values   what a cell holds, as text and as numbers: missing values, numbers as people write them
    checks   what parts are made of, checked; what is wrong with a raw value, in words
    parts    what a raw row consists of: Flag, Number, Category; and text, image: Text, Image
    form     parts in a file
    space    Space: the parts of a model in order; encode, decode, possible; Column, Change
    rows     raw rows in the forms people have them: frames, mappings, arrays, texts, pictures
    phrases  conditions on columns in words: "age over 40 and city is not Oslo"
"""

from tmverify.space.image import Image
from tmverify.space.parts import Category, Flag, Number, Part
from tmverify.space.space import Change, Column, Space
from tmverify.space.text import Text

__all__ = ["Category", "Change", "Column", "Flag", "Image", "Number", "Part", "Space", "Text"]

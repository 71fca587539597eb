"""Parts of a space in a file: the JSON that ``Part.to_json`` writes, read strictly."""

from __future__ import annotations

from tmverify.errors import ModelError, shown
from tmverify.space.image import Image
from tmverify.space.parts import Category, Flag, Number, Part
from tmverify.space.text import Text

_KEYS: dict[str, tuple[type[Part], dict[str, tuple[type, ...]]]] = {
    "flag": (Flag, {"kind": (str,), "name": (str,), "values": (list,)}),
    "word": (Flag, {"kind": (str,), "name": (str,), "values": (list,)}),
    "pixel": (Flag, {"kind": (str,), "name": (str,), "values": (list,)}),
    "number": (Number, {"name": (str,), "cuts": (list,), "missing": (bool,)}),
    "category": (Category, {"name": (str,), "categories": (list,), "other": (bool,), "missing": (bool,)}),
    "text": (Text, {"name": (str,), "words": (list,)}),
    "image": (
        Image,
        {
            "name": (str,),
            "shape": (list,),
            "threshold": (float, list, type(None)),
            "window": (int, type(None)),
            "offset": (float,),
        },
    ),
}


_INSIDE: dict[str, tuple[type, str]] = {
    "cuts": (float, "numbers with a point"),
    "threshold": (float, "numbers with a point"),
    "values": (str, "texts"),
    "categories": (str, "texts"),
    "words": (str, "texts"),
}


def part_from_json(document: object) -> Part:
    """The part that ``to_json`` wrote; ModelError if it is anything else."""
    if not isinstance(document, dict) or not isinstance(document.get("kind"), str):
        raise ModelError(f"A part of a space must be an object with a kind. Found {shown(document)}")
    kind = document["kind"]
    if kind not in _KEYS:
        raise ModelError(f"A part of a space has the unknown kind {shown(kind)}; known: {', '.join(_KEYS)}")
    make, keys = _KEYS[kind]
    if set(document) != {"kind", *keys}:
        raise ModelError(
            f"A {kind} must have the keys {', '.join(['kind', *keys])}. Found {shown(list(document))}"
        )
    for key, types in keys.items():
        if type(document[key]) not in types:
            raise ModelError(f"{key} of a {kind} can't be {shown(document[key])}")
    for key, (of, said) in _INSIDE.items():
        given = document.get(key)
        if isinstance(given, list) and not all(type(value) is of for value in given):
            raise ModelError(f"{key} of a {kind} must be {said}. Found {shown(given)}")
    return make(**{key: document[key] for key in keys})

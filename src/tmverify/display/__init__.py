"""What people see of inputs, changes, reasons and columns: data first, rendering second.

::

    drawing   pictures as tiny PNGs in ``data:`` addresses
    inputs    an input and its change: pictures, cells of a row, a text, names
    reasons   an input with the facts that suffice for its decision
    columns   what the columns of a model are
    html      all of these as HTML, and the card around them, for notebooks

The report's template renders the same data in a page of its own. What an answer's card says is beside the
answer: ``model/card.py``, ``properties/card.py``, ``verify/card.py``.
"""

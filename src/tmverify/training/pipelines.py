"""``freeze``: the Model of a fitted pipeline, with the space of its binarizer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sklearn.pipeline import Pipeline

from tmverify.data.binarizers.base import Binarizer
from tmverify.errors import InvalidInputError, shown
from tmverify.model import Model
from tmverify.training.estimator import TsetlinMachineClassifier


def freeze(estimator: Any) -> Model:
    """The trained model of a classifier, or of a pipeline that ends in one, which reads raw rows.

    Parameters
    ----------
    estimator : TsetlinMachineClassifier, Pipeline, or a search over these
        Fitted. In a pipeline, a binarizer of tmverify may come before the classifier.

    Returns
    -------
    Model
        Its ``space`` is that of the binarizer, so it takes the rows that the pipeline takes.

    Raises
    ------
    InvalidInputError
        If another step changes the data, or the classifier makes bits of the bits: the model could not do the
        same with a raw row.

    Examples
    --------
    >>> import tmverify as tv
    >>> from sklearn.pipeline import make_pipeline
    >>> classifier = tv.TsetlinMachineClassifier(10, 5, random_state=0)
    >>> pipeline = make_pipeline(tv.ThermometerBinarizer(3), classifier)
    >>> model = tv.freeze(pipeline.fit([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1]))
    >>> model.space.bit_names
    ('x0 > 2.5', 'x0 > 3.5')
    """
    estimator = getattr(estimator, "best_estimator_", estimator)
    if isinstance(estimator, TsetlinMachineClassifier):
        return estimator.model_
    if not isinstance(estimator, Pipeline) or not isinstance(estimator[-1], TsetlinMachineClassifier):
        raise InvalidInputError(
            f"freeze takes a TsetlinMachineClassifier, or a pipeline that ends in one. "
            f"Got {shown(estimator)} instead."
        )
    model: Model = estimator[-1].model_
    steps = [(name, step) for name, step in estimator.steps[:-1] if step not in (None, "passthrough")]
    if not steps:
        return model
    for name, step in steps:
        if not isinstance(step, Binarizer):
            raise InvalidInputError(
                f"The step {name!r} of the pipeline, {type(step).__name__}, changes the data, and the model "
                "can't do that with a raw row. Tsetlin machines need no scaling, and a TableBinarizer has "
                "a bit for missing values: leave the step out. Or do without a space: "
                "pipeline[-1].model_ reads bits."
            )
    if len(steps) > 1:
        raise InvalidInputError(f"One binarizer must come before the classifier. Got {len(steps)} instead.")
    if estimator[-1]._encodes:
        raise InvalidInputError(
            "The classifier makes bits of what the binarizer before it makes: a model has one space. Leave "
            "the binarizer out, or set binarize=None in the classifier."
        )
    return replace(model, space=steps[0][1].space_)

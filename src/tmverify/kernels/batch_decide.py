"""The decision rule of ``model.decision`` over rows of scores, one pass and no copy."""

from tmverify.kernels.jit import kernel


@kernel
def decide_rows(scores, least_positive, clamp, classes):  # type: ignore[no-untyped-def]
    """classes[i] = index of the class of scores[i]: a sign if there is one output, else the first largest.

    Scores are cut to ``[-clamp, clamp]`` first; a ``clamp`` beyond every score means none.
    """
    n, n_outputs = scores.shape
    if n_outputs == 1:
        for i in range(n):
            classes[i] = scores[i, 0] >= least_positive
        return
    for i in range(n):
        best = 0
        highest = min(max(scores[i, 0], -clamp), clamp)
        for c in range(1, n_outputs):
            score = min(max(scores[i, c], -clamp), clamp)
            if score > highest:
                highest = score
                best = c
        classes[i] = best

"""Votes of clauses over packed inputs."""

from numba import njit


@njit(cache=True, nogil=True)
def add_votes(  # type: ignore[no-untyped-def]
    words,
    word_offsets,
    word_index,
    must_be_one,
    must_be_zero,
    vote_offsets,
    vote_output,
    vote_weight,
    scores,
):
    """scores[i, vote_output[v]] += vote_weight[v] for every vote v of every clause true on row i.

    Clause j is true on row i iff for each of its words k, with u = words[i, word_index[k]]:
    ``u & must_be_one[k] == must_be_one[k]`` and ``u & must_be_zero[k] == 0``.
    """
    for i in range(words.shape[0]):
        for j in range(len(word_offsets) - 1):
            fires = True
            for k in range(word_offsets[j], word_offsets[j + 1]):
                u = words[i, word_index[k]]
                if (u & must_be_one[k]) != must_be_one[k] or (u & must_be_zero[k]) != 0:
                    fires = False
                    break
            if fires:
                for v in range(vote_offsets[j], vote_offsets[j + 1]):
                    scores[i, vote_output[v]] += vote_weight[v]

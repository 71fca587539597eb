"""The figures of the paper's tables (arXiv 2303.14464), to stand beside ours."""

from __future__ import annotations

# Machine: train %, test %, seconds (on a GTX 1070), literals a clause (IMDB).
TRAINING = {
    "mnist-1": (99.20, 97.41, 1880, None),
    "mnist-2": (99.94, 98.22, 3447, None),
    "mnist-3": (99.97, 98.25, 6915, None),
    "imdb-1": (78.52, 76.65, None, 225),
    "imdb-2": (83.91, 82.53, None, 173),
    "imdb-3": (84.20, 82.53, None, 175),
}
EPOCHS = 400

# Machine and epsilon: solved within 300 s, robust, mean seconds (None: not given; 300: at least).
ROBUSTNESS: dict[tuple[str, int], tuple[int, int, float | None]] = {
    ("mnist-1", 1): (200, 171, 0.92),
    ("mnist-1", 3): (162, 45, 26.11),
    ("mnist-1", 5): (124, 0, 70.61),
    ("mnist-2", 1): (200, 184, 2.81),
    ("mnist-2", 3): (57, 29, 105.85),
    ("mnist-2", 5): (12, 0, 268.54),
    ("mnist-3", 1): (200, 184, 13.85),
    ("mnist-3", 3): (7, 5, 258.36),
    ("mnist-3", 5): (0, 0, 300.0),
    ("imdb-1", 1): (98, 36, 42.73),
    ("imdb-1", 3): (54, 0, 233.59),
    ("imdb-1", 5): (49, 0, 217.95),
    ("imdb-2", 1): (100, 56, 10.92),
    ("imdb-2", 3): (83, 17, 69.72),
    ("imdb-2", 5): (83, 8, 64.50),
    ("back-image", 1): (200, 145, None),
    ("back-image", 3): (116, 14, None),
    ("back-image", 5): (34, 0, None),
}

# Pair and epsilon: solved, similar.
SIMILARITY: dict[tuple[tuple[str, str], int], tuple[int, int]] = {
    (("imdb-1", "imdb-2"), 0): (100, 93),
    (("imdb-1", "imdb-2"), 1): (93, 43),
    (("imdb-1", "imdb-2"), 3): (59, 41),
    (("imdb-2", "imdb-3"), 0): (100, 99),
    (("imdb-2", "imdb-3"), 1): (74, 70),
    (("imdb-2", "imdb-3"), 3): (60, 40),
}

# Share of corrupted test images: accuracy in per cent of the Tsetlin machine, and of the BNN.
MNIST_C = {0.0: (99.3, 97.46), 0.25: (92.5, 90.1), 0.5: (88.1, 83.5), 0.75: (81.2, 77.2)}

# The BNN on MNIST-back-image, by epsilon: solved, robust. Its accuracy is 70 %.
BNN_BACK_IMAGE = {1: (191, 138), 3: (107, 20), 5: (104, 3)}
BACK_IMAGE_ACCURACY = 81.56
BNN_BACK_IMAGE_ACCURACY = 70

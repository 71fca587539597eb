"""The paper's table of accuracy on MNIST-C: test images are corrupted with a probability p."""

from __future__ import annotations

from lab.arguments import Setting, read_arguments
from lab.machines import Trained, accuracy, dense
from lab.networks import TrainedNetwork
from lab.paper import MNIST_C
from lab.subjects import Subjects
from lab.tables import Section

import tmverify as tv

NAME = "accuracy_mnist_c"
HEADERS = ("p", "Tsetlin machine %", "paper", "difference", "BNN %", "paper", "difference")


def main() -> None:
    setting = read_arguments(__doc__ or "")
    subjects = Subjects(setting)
    machine, network = subjects.machine("mnist-large"), subjects.network("bnn-mnist")
    section = Section(NAME, "Accuracy on MNIST-C", HEADERS)
    for share, of_paper in MNIST_C.items():
        data = corrupted(setting, share)
        bits = dense(data.X_test)
        found = accuracy(machine.model, bits, data.y_test), accuracy(network.model, bits, data.y_test)
        cells = [
            (f"{ours:.2f}", f"{theirs:g}", f"{ours - theirs:+.2f}")
            for ours, theirs in zip(found, of_paper, strict=True)
        ]
        section.rows.append((f"{share:g}", *cells[0], *cells[1]))
    section.remarks += [
        about_machine(machine),
        about_network(network),
        "Each of the 10,000 test images is corrupted with probability p, by one of the 15 corruptions drawn "
        "uniformly. The corrupted images are a regeneration by MNIST-C's published parameters; all images go "
        "through the same adaptive threshold. How the paper binarised corrupted images it does not say.",
    ]
    section.write(setting)


def about_machine(machine: Trained) -> str:
    """How the Tsetlin machine was trained."""
    recipe = machine.recipe
    return (
        f"The Tsetlin machine: N = {recipe.n_clauses:,} clauses a class, T = {recipe.threshold:,}, "
        f"s = {recipe.specificity:g}, {recipe.n_epochs} epochs in {machine.seconds:.0f} s on clean images "
        f"(training accuracy {machine.train_accuracy:.2f} %). The paper has N, T and s the same; it does not "
        "say whether its clauses have weights. Ours have: without, they cannot come near T."
    )


def about_network(network: TrainedNetwork) -> str:
    """How the BNN was trained."""
    recipe = network.recipe
    if not recipe.n_epochs:
        return "The BNN has learnt nothing: its weights are as drawn, for want of PyTorch."
    widths = "-".join(map(str, network.model.widths))
    return (
        f"The BNN: {widths}, learnt from the same bits of clean images in {recipe.n_epochs} epochs and "
        f"{network.seconds:.0f} s (Adam, batches of {recipe.batch_size}, learning rate "
        f"{recipe.learning_rate:g} falling to 0, each input bit turned with a chance of "
        f"{recipe.input_noise:g} while learning; training accuracy {network.train_accuracy:.2f} %). Decided "
        "by the frozen integers, which is what is verified; PyTorch's floats decide "
        f"{network.differences} of the clean test images otherwise. How the paper's network "
        "was trained is not known to us: the differences are those between two trainings."
    )


def corrupted(setting: Setting, share: float) -> tv.Dataset:
    """MNIST-C at a share; in a smoke run without data, the digits as they are."""
    if setting.quick and setting.data_dir is None:
        return tv.load_dataset("digits")
    return tv.load_dataset(
        "mnist-c", data_dir=setting.data_dir, corrupted_share=share, random_state=setting.seed
    )


if __name__ == "__main__":
    main()

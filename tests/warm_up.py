"""Compile the kernels once, before several test processes would each compile them at the same time."""

import tmverify as tv
from tmverify.engines import prepare
from tmverify.engines.everywhere.warming import compile_kernels


def main() -> None:
    prepare("auto", network=False)
    prepare("auto", network=True)
    compile_kernels()
    data = tv.load_dataset("digits")
    for n_jobs in (1, 2):
        machine = tv.TsetlinMachineClassifier(n_clauses=20, n_epochs=1, n_jobs=n_jobs, random_state=0)
        machine.fit(data.X_train[:200], data.y_train[:200])
    machine.predict(data.X_test)


if __name__ == "__main__":
    main()

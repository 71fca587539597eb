"""Compile the kernels once, before several test processes would each compile them at the same time."""

import tmverify as tv
from tmverify.bnn import BnnModel
from tmverify.engines import engine_for


def main() -> None:
    tiny = tv.Model.from_clauses(1, [[1]], [[1]])
    network = BnnModel.from_layers([([[1]], [1])], [[-1], [1]])
    numbers = tv.Model.from_clauses(2, [[1], [-2]], [[1, 1]], space=tv.Space([tv.Number("n", (1, 2))]))
    queries = (
        tv.equivalence_query(tiny, tiny),
        tv.equivalence_query(numbers, numbers),
        tv.robustness_query(network, [1], 1),
    )
    for query in queries:
        for certificate in (False, True):
            engine_for("auto", query).prepare(query, certificate)
    tv.explain(tiny, [1])
    data = tv.load_dataset("digits")
    for n_jobs in (1, 2):
        machine = tv.TsetlinMachineClassifier(n_clauses=20, n_epochs=1, n_jobs=n_jobs, random_state=0)
        machine.fit(data.X_train[:200], data.y_train[:200])
    machine.predict(data.X_test)


if __name__ == "__main__":
    main()

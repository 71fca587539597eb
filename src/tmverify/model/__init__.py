"""What a Tsetlin machine is: frozen clauses, the decision rule, evaluators, the file format."""

from tmverify.model.machine import Label, Model

__all__ = ["Label", "Model"]

"""The experiments' networks: a smoke run trains one, keeps it, and finds it again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tmverify.bnn import load_bnn

EXPERIMENT = Path(__file__).parents[2] / "experiments" / "accuracy_mnist_c.py"


def test_a_network_is_trained_once(tmp_path: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "TMVERIFY_DATA"}
    command = [sys.executable, str(EXPERIMENT), "--quick", "--folder", str(tmp_path)]
    first, again = (subprocess.run(command, env=environment, capture_output=True, text=True) for _ in "12")
    assert first.returncode == again.returncode == 0, first.stderr + again.stderr
    assert first.stdout == again.stdout
    assert "training bnn-mnist" in first.stderr
    assert "training" not in again.stderr
    about = json.loads((tmp_path / "models" / "bnn-mnist.json").read_text())
    assert about["model"] == load_bnn(tmp_path / "models" / "bnn-mnist.bnn").content_hash
    assert about["recipe"]["n_epochs"] > 0
    assert about["test_accuracy"] > 50
    assert about["differences"] == 0

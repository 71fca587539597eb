"""Saving: a file is written completely or not at all, whatever interrupts it."""

from __future__ import annotations

import errno
import os
import random
import resource
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from support.batteries import few_or_many
from tmverify import Model, TmVerifyError
from tmverify.model.file import encode

OLD = Model.from_clauses(2, [[1]], [1])
NEW = Model.from_clauses(2, [[1], [-2]], [1, -1], feature_names=["new", "names"])

# Model k has k as its bias, and enough weights that a write takes a while.
SAVER = """
import sys
import numpy as np
from tmverify import Model
models = [Model.from_clauses(4, [[1, -2]] * 4000, np.full((20, 4000), 7), bias=k) for k in range(4)]
path = sys.argv[1]
models[0].save(path)
print("ready", flush=True)
while True:
    for model in models:
        model.save(path)
"""

# Dies by its own hand at the named step of the second save.
SUICIDE = """
import os, signal, sys
import tmverify as tv
path, step = sys.argv[1:]
model = tv.Model.from_clauses(2, [[1], [-2]], [1, -1])
setattr(os, step, lambda *args, **options: os.kill(os.getpid(), signal.SIGKILL))
model.save(path)
"""


@pytest.fixture
def target(tmp_path: Path) -> Path:
    OLD.save(tmp_path / "a.tm")
    return tmp_path / "a.tm"


def assert_untouched(target: Path) -> None:
    assert os.listdir(target.parent) == [target.name]
    assert tv.load(target) == OLD


def test_a_disk_that_fills_up(target: Path) -> None:
    """A limit on file size makes a real write fail half-way."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(OSError) as caught:  # noqa: PT011
            NEW.save(target)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert caught.value.errno == errno.EFBIG
    assert_untouched(target)


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize(
    "error", [OSError(errno.EIO, "broken"), KeyboardInterrupt(), MemoryError()], ids=repr
)
def test_an_exception_at_each_step(
    step: str, error: BaseException, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any) -> None:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(os, step, fail)
        with pytest.raises(type(error)):
            NEW.save(target)
    assert_untouched(target)
    NEW.save(target)
    assert tv.load(target) == NEW


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_kill_at_each_step(step: str, target: Path) -> None:
    done = subprocess.run([sys.executable, "-c", SUICIDE, str(target), step], timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL
    assert tv.load(target) == OLD
    NEW.save(target)
    assert tv.load(target) == NEW


@few_or_many(3, 8)
def test_kills_at_random_moments(tmp_path: Path, n_cases: int) -> None:
    path = tmp_path / "a.tm"
    rng = random.Random(2)
    seen = set()
    for _ in range(n_cases):
        process = subprocess.Popen(
            [sys.executable, "-c", SAVER, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        with process, process.stdout:
            assert process.stdout.readline() == "ready\n"
            time.sleep(rng.uniform(0, 0.03))
            process.send_signal(signal.SIGKILL)
        assert process.returncode == -signal.SIGKILL
        model = tv.load(path)
        assert model.weights.shape == (20, 4000)
        assert (model.weights == 7).all()
        seen.add(int(model.bias[0]))
    assert seen <= {0, 1, 2, 3}


def test_savers_and_readers_at_the_same_time(tmp_path: Path) -> None:
    path = tmp_path / "a.tm"
    models = [Model.from_clauses(4, [[1, -2]] * 50, np.full((20, 50), 7), bias=k) for k in range(4)]
    models[0].save(path)
    failures: list[BaseException] = []

    def save_often(model: Model) -> None:
        try:
            for _ in range(20):
                model.save(path)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=save_often, args=(model,)) for model in models]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert tv.load(path) in models
    assert failures == []
    assert os.listdir(tmp_path) == ["a.tm"]


def test_a_symlink_stays_and_its_target_is_written(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "links").mkdir()
    link, real = tmp_path / "links" / "a.tm", tmp_path / "real" / "b.tm"
    link.symlink_to(Path("..") / "real" / "b.tm")
    for model in (OLD, NEW):  # the first time the link dangles
        model.save(link)
        assert link.is_symlink()
        assert not real.is_symlink()
        assert real.read_bytes() == encode(model)
        assert tv.load(link) == model
    assert os.listdir(tmp_path / "links") == ["a.tm"]
    assert os.listdir(tmp_path / "real") == ["b.tm"]


@pytest.mark.parametrize("umask", [0o022, 0o027, 0o077, 0o002])
def test_the_mode_obeys_the_umask(umask: int, tmp_path: Path) -> None:
    before = os.umask(umask)
    try:
        NEW.save(tmp_path / "a.tm")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.tm").stat().st_mode) == 0o666 & ~umask


def test_a_missing_folder_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        NEW.save(tmp_path / "none" / "a.tm")
    assert os.listdir(tmp_path) == []


def test_a_file_for_a_folder_is_an_os_error(target: Path) -> None:
    with pytest.raises(NotADirectoryError):
        NEW.save(target / "a.tm")
    assert_untouched(target)


def test_a_folder_in_the_way_is_an_os_error(tmp_path: Path) -> None:
    (tmp_path / "a.tm").mkdir()
    with pytest.raises(IsADirectoryError):
        NEW.save(tmp_path / "a.tm")
    assert os.listdir(tmp_path) == ["a.tm"]
    assert os.listdir(tmp_path / "a.tm") == []


def test_a_device_or_pipe_in_the_way_is_left_alone(tmp_path: Path) -> None:
    """Renaming over /dev/null would break the machine of whoever may do so."""
    os.mkfifo(tmp_path / "a.tm")
    with pytest.raises((OSError, TmVerifyError)):
        NEW.save(tmp_path / "a.tm")
    assert stat.S_ISFIFO((tmp_path / "a.tm").stat().st_mode)
    assert os.listdir(tmp_path) == ["a.tm"]


def test_the_longest_name_that_the_folder_takes(tmp_path: Path) -> None:
    path = tmp_path / ("n" * os.pathconf(tmp_path, "PC_NAME_MAX"))
    NEW.save(path)
    assert tv.load(path) == NEW

"""A Dask cluster as a backend of joblib's: connected to, given the models once, and watched.

Dask itself puts a task that was lost with its worker on another one. After some losses (its setting
``distributed.scheduler.allowed-failures``) it gives the task up: for us, a worker that died
(``_dask_backend``).
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tmverify.campaign.supervising import Kit
from tmverify.errors import ClusterError, first_line
from tmverify.extras import need

_CONNECT = "10s"
_ADDRESS = re.compile(r"([a-z]+://)?[^\s/:]+:\d{1,5}(/\S*)?|[a-z]+://\S+")


@contextmanager
def cluster_backend(address: str, kit: Kit) -> Iterator[Any]:
    """The backend for the workers of the scheduler at ``address``.

    Raises
    ------
    ClusterError
    MissingExtraError
    """
    if not _ADDRESS.fullmatch(address):
        raise ClusterError(f"--cluster must be an address such as tcp://host:8786. Got {address!r} instead.")
    distributed = need("distributed", extra="dask", what="--cluster")
    from tmverify.campaign._dask_backend import WatchedDaskBackend

    try:
        with _quiet("distributed"):
            client = distributed.Client(address, timeout=_CONNECT, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise ClusterError(
            f"no Dask scheduler answers at {address} ({first_line(error)}); start one with dask scheduler, "
            f"and workers with dask worker {address}."
        ) from None
    try:
        yield WatchedDaskBackend(client=client, scatter=[kit])
    finally:
        client.close()


@contextmanager
def _quiet(name: str) -> Iterator[None]:
    """What a library would log about a failure that is told in our own words."""
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(level)

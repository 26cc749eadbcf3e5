"""The table [cluster] of a config or grid: the Dask workers that do some of the work."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from experiments.config.section import ConfigTable


def _checked(address: str) -> str:
    if not re.fullmatch(r"|local:[1-9][0-9]*|(tcp|tls)://.+|slurm", address):
        expected = "local:N for N processes, tcp://HOST:PORT, tls://HOST:PORT or slurm"
        raise ValueError(f"expected {expected}; got {address!r}")
    return address


class ClusterSection(ConfigTable):
    """The Dask workers that read controls and checkpoints of a run, or do the runs of a grid; else this process does.

    Numbers do not depend on it, so it is neither written into a run folder nor compared with one.
    """

    address: Annotated[str, AfterValidator(_checked)] = ""
    '"local:N" for N processes of this machine; the address of a Dask scheduler, "tcp://10.0.0.5:8786"; or "slurm".'
    threads: int = Field(default=0, ge=0)
    """Threads of torch in each worker; 0 stands for 1. Without an address those of an atlas in this process; 0 then
    stands for torch's own number."""
    retries: int = Field(default=2, ge=0)
    """How often work is begun again that a worker did not survive; of an atlas also a run that failed, but not by a
    mistake of the user."""
    jobs: int = Field(default=1, ge=1)
    "Jobs that slurm is asked for."
    slurm: dict[str, Any] = Field(default_factory=dict)
    "What dask_jobqueue.SLURMCluster is given, such as cores, memory, queue and walltime."

    @property
    def each_threads(self) -> int:
        """The threads of each worker; 0 in this process for torch's own number."""
        return self.threads or int(bool(self.address))

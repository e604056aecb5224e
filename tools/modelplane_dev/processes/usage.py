"""What a process on this machine has used, as Linux reports it."""

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Usage:
    """Processor seconds since the process began, and the memory that it holds now, in MiB."""

    cpu: float
    memory: float


def usage(pid: int) -> Usage:
    """Return what a process has used. Raises FileNotFoundError when there is none."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    user, system, pages = int(fields[11]), int(fields[12]), int(fields[21])
    return Usage((user + system) / os.sysconf("SC_CLK_TCK"), pages * os.sysconf("SC_PAGE_SIZE") / 2**20)

"""The progress of a ModelCache's weights on a cluster, and the exit codes of the program that downloads them."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum


class StagingPhase(StrEnum):
    """The phase of staging on one cluster: no volume yet, downloading, ready, or failed until somebody acts."""

    PENDING = "Pending"
    HYDRATING = "Hydrating"
    READY = "Ready"
    FAILED = "Failed"


@dataclass(frozen=True, slots=True)
class Staging:
    """What a ModelCache publishes about a cluster. `volume` is the staged claim, "" while there is none."""

    phase: str
    message: str = ""
    volume: str = ""


class HydrateExit(IntEnum):
    """Exit codes of `modelplane hydrate`. Only after `AGAIN` may another try succeed by itself."""

    meaning: str

    def __new__(cls, value: int, meaning: str) -> "HydrateExit":
        """Return the member for an exit code."""
        member = int.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member

    STAGED = 0, "all files are there and verified"
    AGAIN = 75, "the download broke off and resumes where it stopped"
    REFUSED = 77, "the hub refused the token: spec.huggingFace.authSecret needs one that may read the repository"
    NOT_FOUND = 66, "no such files: correct spec.huggingFace.repo or revision; a private repository needs an authSecret"
    DISK_FULL = 73, "the volume is too small: raise spec.huggingFace.sizeGiB"
    UNWRITABLE = (
        74,
        (
            "the volume cannot be written: its storage class must let root create files on it, or the user of "
            "spec.cluster.existing.cache.runAsUser of the InferenceCluster"
        ),
    )
    CORRUPT = (
        76,
        "the hub's files are refused, for their bytes, names or number: try again later, or name another revision",
    )

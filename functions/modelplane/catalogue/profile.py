"""The short form of a profile: the number of nodes and GPUs, and the model's parallelism over them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from modelplane.model.deployment import PREFERRED


@dataclass(frozen=True, slots=True)
class InvalidProfile:
    """A profile that cannot be served as written: its field, and why with what to do."""

    profile: str
    field: str
    why: str

    def __str__(self) -> str:
        """Return it in one sentence."""
        return f"spec.serving[{self.profile}].{self.field}: {self.why}"


class InvalidProfileError(Exception):
    """Ends an expansion; `expand` returns what it carries."""

    def __init__(self, profile: Mapping[str, Any], field: str, why: str) -> None:
        super().__init__(why)
        self.found = InvalidProfile(profile["name"], field, why)


@dataclass(frozen=True, slots=True)
class Topology:
    """The nodes of a replica, the GPUs on each, and the parallelism; None where it is not given.

    `across_nodes`: whether replicas prefer distinct nodes, `PREFERRED` or `NONE`.
    """

    nodes: int
    gpus: int
    tensor: int | None
    pipeline: int | None
    data: int | None
    expert: bool | None
    requires: Mapping[str, Any]
    devices: tuple[Mapping[str, Any], ...]
    across_nodes: str

    @staticmethod
    def read(profile: Mapping[str, Any]) -> "Topology":
        """Return the topology of a profile."""
        block = profile["replicaTopology"]
        spread = block.get("parallelism") or {}
        expert = spread.get("expert")
        return Topology(
            nodes=block.get("nodes", 1),
            gpus=block["gpusPerNode"],
            tensor=spread.get("tensor"),
            pipeline=spread.get("pipeline"),
            data=spread.get("data"),
            expert=None if expert is None else expert == "enabled",
            requires=block.get("requires") or {},
            devices=tuple(block.get("devices") or ()),
            across_nodes=(block.get("placement") or {}).get("replicasAcrossNodes", PREFERRED),
        )

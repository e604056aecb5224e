"""What a pool can do and what a profile of a ClusterModel requires, as the catalogue declares and compares it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a platform team declares of a pool: `capabilities` of its InferenceClass, overridden by those of the pool.

    None and () are not declared, and then satisfy nothing. `memory_per_gpu` is a quantity, `bandwidth` is
    `interNodeBandwidth`, e.g. `ib-400g`, `device` names the entry of the pool's devices that is its GPU.
    """

    memory_per_gpu: str | None = None
    interconnect: str | None = None
    precisions: tuple[str, ...] = ()
    nvlink_domain_size: int | None = None
    multi_node: bool | None = None
    bandwidth: str | None = None
    device: str | None = None


@dataclass(frozen=True, slots=True)
class Requires:
    """What a profile requires of a pool, None and () for nothing. `several_nodes`: its engines span more than one."""

    memory_per_gpu: str | None = None
    interconnect: str | None = None
    precisions: tuple[str, ...] = ()
    nvlink_domain_size: int | None = None
    bandwidth: str | None = None
    several_nodes: bool = False

"""CPU and memory: what a pod asks of its node, and what a node has for pods."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Resources:
    """Amounts of both kinds. `cpu` is in thousandths of a CPU, `memory` in bytes; 0 is none asked, or none declared."""

    cpu: int = 0
    memory: int = 0


#: Nothing asked, or nothing declared.
NOTHING = Resources()

#: Pods of engines that a node runs where its pool declares nothing: the 110 of a kubelet that is not told otherwise,
#: less 10 for DaemonSets.
DEFAULT_PODS = 100

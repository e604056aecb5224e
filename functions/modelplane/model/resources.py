"""CPU and memory: what a pod asks of its node, and what a node has for pods."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Resources:
    """Amounts of CPU (in thousandths) and memory (in bytes); 0 means not requested, or not declared."""

    cpu: int = 0
    memory: int = 0


#: Nothing requested, or nothing declared.
NOTHING = Resources()

#: Pods of engines that a node runs where its pool declares no number: a kubelet's default of 110, less 10 for
#: DaemonSets.
DEFAULT_PODS = 100

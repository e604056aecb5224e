"""Whether the pods of a chart run, by the counts of its workloads. A condition allows for missing pods."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from modelplane.stack.observation import Counts
from modelplane.stack.parts import Workload

_NO_NODES: Final = (
    "no node is selected for its pods. Label the nodes with GPUs nvidia.com/gpu.present=true, or set "
    "spec.stack.nodeFeatureDiscovery to Managed, which labels them"
)
_LOOK: Final = "Look at them: kubectl get pods"
_STALLED: Final = (
    "An image that cannot be pulled, or no node that has room, are what it usually is: kubectl describe pods"
)


@dataclass(frozen=True, slots=True)
class Pods:
    """The pods of a chart.

    `runs`: each of its workloads has one that is available, None while that is not known. `complete`: all pods are, as
    the workloads are now. `message` says of which that is not so. `stalled`: the cluster has given some of them up.
    """

    runs: bool | None
    complete: bool
    message: str = ""
    stalled: bool = False


def judge(workloads: Sequence[Workload], namespace: str, seen: Mapping[str, Counts | None]) -> Pods:
    """Return whether the pods of workloads run; `seen` has those that were observed, by name."""
    known = {each: seen[each.name] for each in workloads if each.name in seen}
    available = [_is_available(each, counts) for each, counts in known.items()]
    messages = [f"{each.kind} {namespace}/{each.name}: {words}" for each, words in _lacks(known)]
    unknown = len(known) < len(workloads)
    runs = False if False in available else None if unknown else True
    complete = not unknown and all(_is_complete(counts) for counts in known.values())
    stalled = any(counts and counts.stalled and not _is_complete(counts) for counts in known.values())
    look = _STALLED if stalled else _LOOK
    message = f"{'; '.join(messages)}. {look} -n {namespace}" if messages else ""
    return Pods(runs, complete, message, stalled)


def _is_available(workload: Workload, counts: Counts | None) -> bool:
    """Tell whether a workload has an available pod. A DaemonSet of nodes that are all scaled away needs none."""
    if counts is None:
        return False
    return counts.available > 0 or (workload.kind == "DaemonSet" and counts.wanted == 0)


def _is_complete(counts: Counts | None) -> bool:
    return counts is not None and counts.current and counts.available >= counts.wanted


def _lacks(known: Mapping[Workload, Counts | None]) -> list[tuple[Workload, str]]:
    """Return what each workload lacks."""
    found = []
    for workload, counts in known.items():
        if counts is None:
            found.append((workload, "does not exist"))
        elif workload.kind == "DaemonSet" and counts.wanted == 0:
            found.append((workload, _NO_NODES))
        elif not _is_complete(counts):
            why = f": {counts.stalled.removesuffix('.')}" if counts.stalled else ""
            pods = f"{min(counts.available, counts.wanted)} of {counts.wanted} pods are available"
            found.append((workload, f"{pods}{why}"))
    return found

"""Reads CPU and memory: the requests of a member, and what a pool declares for its nodes.

A ModelDeployment has the requests in the container, like a pod. A ModelReplica has them beside the template, because
passes that place replicas read the fleet's replicas without their templates.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import ceil, floor
from typing import Any

from modelplane.cel.quantity import QuantityError, parse
from modelplane.model.resources import DEFAULT_PODS, NOTHING, Resources
from modelplane.observed.fields import count, mapping, mappings

#: The kinds, and how many units of `Resources` one of them has.
_PARTS = {"cpu": 1000, "memory": 1}


def _number(value: Any) -> Fraction:
    """Return a quantity as a number, 0 for an invalid one."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return Fraction(0)
    try:
        return max(Fraction(0), parse(str(value)).number())
    except QuantityError:
        return Fraction(0)


def read_asked(block: Any) -> Resources:
    """Return what `resources` of a container request, rounded up: for each kind the request, else the limit.

    In Kubernetes, too, the limit is the default of the request.
    """
    if not mapping(block):
        return NOTHING
    asked = {**mapping(block.get("limits")), **mapping(block.get("requests"))}
    return Resources(**{kind: ceil(_number(asked.get(kind)) * parts) for kind, parts in _PARTS.items()})


def read_node(declared: Any) -> Resources:
    """Return what a pool declares for engines on each node, rounded down."""
    if not mapping(declared):
        return NOTHING
    return Resources(**{kind: floor(_number(declared.get(kind)) * parts) for kind, parts in _PARTS.items()})


def read_pods(declared: Any) -> int:
    """Return how many pods of engines a node of a pool runs, by what the pool declares; never 0."""
    return count(mapping(declared).get("pods")) or DEFAULT_PODS


def read_bytes(value: Any) -> int:
    """Return a quantity of memory in bytes, rounded up; 0 for an invalid one."""
    return ceil(_number(value))


def read_shared_memory(pod: Mapping[str, Any]) -> int | None:
    """Return the bound of a pod spec's shared memory: in bytes, 0 for its memory limit, None for no bound."""
    if own := read_bytes(pod.get("sharedMemory")):
        return own
    limits = (mapping(mapping(each.get("resources")).get("limits")) for each in mappings(pod.get("containers")))
    return 0 if any("memory" in each for each in limits) else None


def lift(member: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a member of a ModelDeployment in the form of a ModelReplica: resources and bounds beside the template."""
    template = mapping(member.get("template"))
    pod = mapping(template.get("spec"))
    containers = pod.get("containers")
    block = next((each["resources"] for each in mappings(containers) if mapping(each.get("resources"))), None)
    beside = {"resources": block, "sharedMemory": pod.get("sharedMemory")}
    found = {key: value for key, value in beside.items() if value is not None}
    if not found or not isinstance(containers, list):
        return member
    plain = [{key: value for key, value in each.items() if key != "resources"} for each in containers]
    left = {key: value for key, value in pod.items() if key != "sharedMemory"}
    return {**member, **found, "template": {**template, "spec": {**left, "containers": plain}}}


def lower(member: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a member of a ModelReplica with its resources and bounds in the template: the inverse of `lift`."""
    template = mapping(member.get("template"))
    inside, beside = ({key: member[key]} if key in member else {} for key in ("resources", "sharedMemory"))
    pod = mapping(template.get("spec"))
    containers = [{**each, **inside} for each in mappings(pod.get("containers"))]
    left = {key: value for key, value in member.items() if key not in {*inside, *beside}}
    return {**left, "template": {**template, "spec": {**pod, **beside, "containers": containers}}}


def above_limits(engines: Any) -> Iterator[tuple[str, str]]:
    """Yield (field, message) for requests in `spec.engines` that exceed their limit, which Kubernetes refuses."""
    for engine in mappings(engines):
        for index, member in enumerate(mappings(engine.get("members"))):
            block = mapping(lift(member).get("resources"))
            requests, limits = mapping(block.get("requests")), mapping(block.get("limits"))
            for kind in sorted(requests.keys() & limits.keys() & _PARTS.keys()):
                if _number(requests[kind]) > _number(limits[kind]):
                    where = f"spec.engines[{engine.get('name')}].members[{index}]"
                    why = f"requests {requests[kind]} of {kind}, more than its limit of {limits[kind]}"
                    yield where, why

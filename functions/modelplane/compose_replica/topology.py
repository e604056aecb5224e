"""The registry of what an engine's members can be: one module per topology, found by the members' roles."""

from collections.abc import Callable, Mapping
from typing import Any

from modelplane.compose_replica import edge, gang, ports, prefill_decode, standalone
from modelplane.compose_replica.instance import Instance
from modelplane.compose_replica.spec import PREFILL_DECODE, Engine, ReplicaSpec
from modelplane.model.deployment import Role

_ENGINES: Mapping[frozenset[Role], Callable[[Instance, Engine], dict[str, dict[str, Any]]]] = {
    frozenset({Role.STANDALONE}): standalone.compose,
    frozenset({Role.LEADER, Role.WORKER}): gang.compose,
}


def wrong(spec: ReplicaSpec) -> str:
    """Return in words what of the replica cannot be composed as it is written, "" when all can."""
    found = [
        f"spec.engines[{engine.name}].members: {' and '.join(sorted(engine.roles))} do not make an engine; give it one "
        "Standalone member, or one Leader and one Worker"
        for engine in spec.engines
        if engine.roles not in _ENGINES
    ]
    if spec.mode == PREFILL_DECODE and not found:
        found += prefill_decode.wrong(spec)
    return "; ".join(found)


def advice(spec: ReplicaSpec) -> list[str]:
    """Return in words what the writer of a replica that is not wrong is told all the same."""
    return [] if wrong(spec) else ports.advice(spec)


def compose(instance: Instance, spec: ReplicaSpec) -> dict[str, dict[str, Any]]:
    """Return all Objects of a replica that is not wrong by composition resource name."""
    objects = {"namespace": instance.site.place_namespace()}
    for engine in spec.engines:
        objects |= _ENGINES[engine.roles](instance, engine)
    return objects | (edge.compose_pool(instance, spec) if spec.picked else edge.compose_service(instance))

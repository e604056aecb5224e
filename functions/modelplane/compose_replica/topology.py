"""The registry of what an engine's members can be: one module per topology, found by the members' roles."""

from collections.abc import Callable, Mapping
from typing import Any

from modelplane.compose_replica import edge, gang, standalone
from modelplane.compose_replica.site import Site
from modelplane.compose_replica.spec import Engine, ReplicaSpec
from modelplane.model.deployment import Role

_ENGINES: Mapping[frozenset[Role], Callable[[Site, Engine], dict[str, dict[str, Any]]]] = {
    frozenset({Role.STANDALONE}): standalone.compose,
    frozenset({Role.LEADER, Role.WORKER}): gang.compose,
}
_EDGES: Mapping[str, Callable[[Site], dict[str, dict[str, Any]]]] = {"Unified": edge.compose}


def unsupported(spec: ReplicaSpec) -> str:
    """Return in words what of the replica has no composer yet, "" when all has one."""
    missing = [] if spec.mode in _EDGES else [f"serving mode {spec.mode}"]
    missing += [
        f"engine {engine.name} of {' and '.join(sorted(engine.roles))} members"
        for engine in spec.engines
        if engine.roles not in _ENGINES
    ]
    return ", ".join(missing)


def compose(site: Site, spec: ReplicaSpec) -> dict[str, dict[str, Any]]:
    """Return all Objects of a supported replica by composition resource name."""
    objects = {"namespace": site.place_namespace()}
    for engine in spec.engines:
        objects |= _ENGINES[engine.roles](site, engine)
    return objects | _EDGES[spec.mode](site)

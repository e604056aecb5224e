"""What of a replica's spec cannot be composed."""

import re
from collections.abc import Iterator
from typing import Final

from modelplane.compose_replica.spec import Engine, Phase, ReplicaSpec
from modelplane.composing.messages import sentences
from modelplane.composing.pair import Half, find_pair_problems
from modelplane.kube.pod import PROBES
from modelplane.model.deployment import PREFILL_DECODE, Role
from modelplane.model.names import ENGINE_PORT_NAME
from modelplane.observed.engine_port import PORTS, engine_port
from modelplane.observed.fields import mapping, mappings, text

#: The roles of members that make an engine.
STANDALONE: Final = frozenset({Role.STANDALONE})
#: The fields of a pod that a variable may read (Kubernetes' downward API).
_FIELDS: Final = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
_FIELD: Final = re.compile(rf"{'|'.join(map(re.escape, _FIELDS))}|metadata\.(?:labels|annotations)\['[^']+'\]")
GANG: Final = frozenset({Role.LEADER, Role.WORKER})


def _container_path(engine: Engine) -> str:
    """Return the path in the spec of the container that takes the engine's requests."""
    index = engine.members.index(engine.serving)
    return f"spec.engines[{engine.name}].members[{index}].template.spec.containers[0]"


def _wrong_members(spec: ReplicaSpec) -> Iterator[str]:
    for engine in spec.engines:
        if engine.roles not in (STANDALONE, GANG):
            yield (
                f"spec.engines[{engine.name}].members: found {' and '.join(sorted(engine.roles))}, an engine needs one "
                "Standalone, or one Leader and one Worker"
            )


def _wrong_pair(spec: ReplicaSpec) -> Iterator[str]:
    """Yield why the engines of a pair cannot serve together."""
    return find_pair_problems(
        [
            Half(engine.name, engine.phase is Phase.DECODE, engine.serving.container, _container_path(engine))
            for engine in spec.engines
        ]
    )


def _wrong_probes(spec: ReplicaSpec) -> Iterator[str]:
    """Yield probes on a port by a name that the container's ports do not have: no request would reach the engine."""
    for engine in spec.engines:
        for index, member in enumerate(engine.members):
            where = f"spec.engines[{engine.name}].members[{index}].template.spec.containers[0]"
            names = [text(port.get("name")) for port in mappings(member.container.get(PORTS))]
            for probe in PROBES:
                port = mapping(mapping(member.container.get(probe)).get("httpGet")).get("port")
                if isinstance(port, str) and port not in names:
                    fault = f"{where}.{probe}.httpGet.port: {port!r} is not the name of a port in {PORTS}"
                    yield sentences(fault, f"Use {', '.join(names) or 'a number'}, or add it to {PORTS}.")


def _wrong_names(spec: ReplicaSpec) -> Iterator[str]:
    """Yield that engines behind one Service listen on different ports by different names: it can send to one name."""
    ports = {engine.name: engine_port(engine.serving.container) for engine in spec.engines}
    if spec.picked or len({port.number for port in ports.values()}) < 2 or len({p.name for p in ports.values()}) < 2:
        return
    listed = ", ".join(f"{name} on {port.name} {port.number}" for name, port in ports.items())
    fault = f"spec.engines: engines take requests on different ports by different names ({listed})"
    yield sentences(fault, f"Name the port of each {ENGINE_PORT_NAME} in its {PORTS}.")


def _wrong_fields(spec: ReplicaSpec) -> Iterator[str]:
    """Yield variables that read a field of the pod which Kubernetes does not offer: the pods would be refused."""
    for engine in spec.engines:
        for index, member in enumerate(engine.members):
            where = f"spec.engines[{engine.name}].members[{index}].template.spec.containers[0]"
            for row in mappings(member.container.get("env")):
                path = mapping(mapping(row.get("valueFrom")).get("fieldRef")).get("fieldPath")
                if path is not None and not _FIELD.fullmatch(text(path)):
                    fault = f"{where}.env[{text(row.get('name'))}]: a pod has no field {text(path)!r}"
                    yield sentences(fault, _offered(text(path)))


def _offered(path: str) -> str:
    """Return which field to read instead of an unknown one."""
    near = next((known for known in _FIELDS if known.lower() == path.lower()), "")
    return f"Write {near}." if near else f"Use one of {', '.join(_FIELDS)}."


def find_problems(spec: ReplicaSpec) -> str:
    """Return what of the replica cannot be composed as written, "" if everything can."""
    found = [*_wrong_members(spec), *_wrong_fields(spec), *_wrong_probes(spec)]
    found += [] if found else _wrong_names(spec)
    if spec.mode == PREFILL_DECODE and not found:
        phases = sorted(str(engine.phase or "none") for engine in spec.engines)
        if phases != [Phase.DECODE, Phase.PREFILL]:
            found = [
                f"spec.engines: found phases {', '.join(phases)}, serving.mode PrefillDecode needs two engines, one "
                "with phase Prefill and one with phase Decode"
            ]
        else:
            found = list(_wrong_pair(spec))
    return sentences(*found)

"""What of a replica cannot be composed as its spec says."""

from collections.abc import Iterator
from typing import Final

from modelplane.compose_replica.spec import Engine, Phase, ReplicaSpec
from modelplane.composing.engine_port import DECODE_PORT, LAST_PORT, engine_port
from modelplane.composing.messages import sentences
from modelplane.model.deployment import PREFILL_DECODE, Role
from modelplane.model.names import ENGINE_PORT

#: The roles of members that make an engine.
STANDALONE: Final = frozenset({Role.STANDALONE})
GANG: Final = frozenset({Role.LEADER, Role.WORKER})


def decode_port(engine: Engine) -> int:
    """Return where a valid decode engine listens."""
    port = engine_port(engine.serving.container)
    return DECODE_PORT if port.given is None else port.number


def _container_path(engine: Engine) -> str:
    """Return where in the spec the container stands that takes the engine's requests."""
    index = engine.members.index(engine.serving)
    return f"spec.engines[{engine.name}].members[{index}].template.spec.containers[0]"


def _wrong_members(spec: ReplicaSpec) -> Iterator[str]:
    for engine in spec.engines:
        if engine.roles not in (STANDALONE, GANG):
            yield (
                f"spec.engines[{engine.name}].members: found {' and '.join(sorted(engine.roles))}, an engine needs one "
                "Standalone, or one Leader and one Worker"
            )


def _wrong_ports(spec: ReplicaSpec) -> Iterator[str]:
    """Yield where a decode engine cannot listen, beside the sidecar that has the engines' port."""
    for engine in spec.engines:
        port, path = engine_port(engine.serving.container), _container_path(engine)
        if engine.phase is not Phase.DECODE or port.given is None:
            continue
        if port.is_unreadable:
            fault = f"{path}: {port.flag} {port.given!r} is not a port number from 1 to {LAST_PORT}"
        elif port.number == ENGINE_PORT:
            fault = f"{path}: {port.flag} {port.given} is the port of the decode sidecar, which takes the requests"
        else:
            continue
        yield sentences(fault, f"Set another one, such as {port.flag}={DECODE_PORT}.")


def find_problems(spec: ReplicaSpec) -> str:
    """Return what of the replica cannot be composed as it is written, "" when all can."""
    found = list(_wrong_members(spec))
    if spec.mode == PREFILL_DECODE and not found:
        phases = sorted(str(engine.phase or "none") for engine in spec.engines)
        if phases != [Phase.DECODE, Phase.PREFILL]:
            found = [
                f"spec.engines: found phases {', '.join(phases)}, serving.mode PrefillDecode needs two engines, one "
                "with phase Prefill and one with phase Decode"
            ]
        else:
            found = list(_wrong_ports(spec))
    return sentences(*found)

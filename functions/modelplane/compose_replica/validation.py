"""What of a replica cannot be composed as its spec says, and what is composed although it is probably a mistake."""

from collections.abc import Iterator
from typing import Final

from modelplane.compose_replica.flags import number_in, read_flag
from modelplane.compose_replica.spec import PREFILL_DECODE, Engine, Phase, ReplicaSpec
from modelplane.composing.messages import sentences
from modelplane.model.deployment import Role
from modelplane.model.names import ENGINE_PORT

#: The roles of members that make an engine.
STANDALONE: Final = frozenset({Role.STANDALONE})
GANG: Final = frozenset({Role.LEADER, Role.WORKER})

#: Where a decode engine is assumed to listen that names no port.
_ASSUMED_PORT: Final = 8001
_LAST_PORT: Final = 65535


def _given_port(engine: Engine) -> str | None:
    return read_flag(engine.serving.container, "--port")


def decode_port(engine: Engine) -> int:
    """Return where a valid decode engine listens."""
    given = _given_port(engine)
    return _ASSUMED_PORT if given is None else int(given)


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
        given = _given_port(engine) if engine.phase is Phase.DECODE else None
        if given is None:
            continue
        port, path = number_in(given, most=_LAST_PORT), _container_path(engine)
        if port is None:
            fault = f"{path}: --port {given!r} is not a port number from 1 to {_LAST_PORT}"
        elif port == ENGINE_PORT:
            fault = f"{path}: --port {given} is the port of the decode sidecar, which takes the requests"
        else:
            continue
        yield sentences(fault, f"Set another one, such as --port={_ASSUMED_PORT}.")


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


def find_warnings(spec: ReplicaSpec) -> list[str]:
    """Return what is assumed of engines' ports, and which one listens where no request comes to; of a valid replica.

    Any other engine than a decode one is only warned about: its command may start something else on the engines' port.
    """
    return [] if find_problems(spec) else [warning for engine in spec.engines if (warning := _port_warning(engine))]


def _port_warning(engine: Engine) -> str:
    given, path = _given_port(engine), _container_path(engine)
    if engine.phase is Phase.DECODE:
        if given is not None:
            return ""
        fault = f"{path}: no --port, the decode sidecar takes {ENGINE_PORT} and expects the engine on {_ASSUMED_PORT}"
        return sentences(fault, f"Set --port={_ASSUMED_PORT}.")
    if given is None or number_in(given, most=_LAST_PORT) in (None, ENGINE_PORT):
        return ""
    fault = f"{path}: --port is {given}, requests and probes are sent to port {ENGINE_PORT}"
    return sentences(fault, f"Listen on port {ENGINE_PORT}.")

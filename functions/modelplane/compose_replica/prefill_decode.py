"""A pair of engines that serves together: one reads prompts, the other writes answers behind a sidecar."""

from modelplane.compose_replica.flags import number_in, read_flag
from modelplane.compose_replica.spec import Engine, Phase, ReplicaSpec
from modelplane.model.deployment import Role
from modelplane.model.names import ENGINE_PORT

#: Where a decode engine is taken to listen that says nothing of it.
_ASSUMED_PORT = 8001


def serving_role(engine: Engine) -> Role:
    """Return the role of the member that takes requests."""
    return Role.LEADER if Role.LEADER in engine.roles else Role.STANDALONE


def decode_port(engine: Engine) -> int:
    """Return where a decode engine that is not wrong listens."""
    given = read_flag(engine.member(serving_role(engine)).container, "--port")
    return _ASSUMED_PORT if given is None else int(given)


def _decoders(spec: ReplicaSpec) -> list[tuple[str, str | None]]:
    """Return, of each decode engine, where its container stands in the spec, and the `--port` it is given."""
    found = []
    for engine in spec.engines:
        if engine.phase is Phase.DECODE:
            member = engine.member(serving_role(engine))
            path = f"spec.engines[{engine.name}].members[{engine.members.index(member)}].template.spec.containers[0]"
            found.append((path, read_flag(member.container, "--port")))
    return found


def wrong(spec: ReplicaSpec) -> list[str]:
    """Return in words what keeps a replica from serving as a pair: its engines, and the decode engine's port."""
    if sorted(str(engine.phase) for engine in spec.engines) != [Phase.DECODE, Phase.PREFILL]:
        return ["spec.engines: PrefillDecode takes two engines, one with phase Prefill and one with phase Decode"]
    words = []
    for path, given in _decoders(spec):
        if given is None:
            continue
        remedy = f"give the engine another one as a number, such as --port={_ASSUMED_PORT}"
        if not number_in(given, most=65535):
            words.append(f"InvalidEngine: {path}: --port {given!r} is no number of a port; {remedy}")
        elif int(given) == ENGINE_PORT:
            words.append(f"InvalidEngine: {path}: --port {given} is where the sidecar takes requests; {remedy}")
    return words


def advice(spec: ReplicaSpec) -> list[str]:
    """Return in words what is assumed of a decode engine that does not say where it listens."""
    return [
        f"{path} has no --port: the sidecar expects the engine on {_ASSUMED_PORT}, for it takes {ENGINE_PORT} itself; "
        f"let the engine listen there (--port={_ASSUMED_PORT})"
        for path, given in _decoders(spec)
        if given is None
    ]

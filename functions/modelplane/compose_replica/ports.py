"""Where engines listen: what their `--port` says, and what the writer of a replica is told of it."""

from collections.abc import Iterator

from modelplane.compose_replica.flags import number_in, read_flag
from modelplane.compose_replica.spec import Engine, Phase, ReplicaSpec
from modelplane.model.names import ENGINE_PORT

#: Where a decode engine is taken to listen that says nothing of it.
_ASSUMED = 8001
_LAST = 65535


def _given(engine: Engine) -> str | None:
    return read_flag(engine.serving.container, "--port")


def decode_port(engine: Engine) -> int:
    """Return where a decode engine that is not wrong listens."""
    given = _given(engine)
    return _ASSUMED if given is None else int(given)


def _ports(spec: ReplicaSpec) -> Iterator[tuple[Engine, str, str | None]]:
    """Yield each engine, where the container that takes requests stands in the spec, and the `--port` it is given."""
    for engine in spec.engines:
        index = engine.members.index(engine.serving)
        path = f"spec.engines[{engine.name}].members[{index}].template.spec.containers[0]"
        yield engine, path, _given(engine)


def refused(spec: ReplicaSpec) -> list[str]:
    """Return in words where a decode engine cannot listen, beside the sidecar that has the engines' port."""
    words = []
    for engine, path, given in _ports(spec):
        if engine.phase is not Phase.DECODE or given is None:
            continue
        remedy = f"give the engine another one as a number, such as --port={_ASSUMED}"
        port = number_in(given, most=_LAST)
        if port is None:
            words.append(f"{path}: --port {given!r} is no number of a port; {remedy}")
        elif port == ENGINE_PORT:
            words.append(f"{path}: --port {given} is where the sidecar takes requests; {remedy}")
    return words


def advice(spec: ReplicaSpec) -> list[str]:
    """Return in words what is assumed of an engine's port, and which engine listens where nobody asks it.

    Any other engine than a decode one is only warned: its command may well start something on the engines' port.
    """
    words = []
    for engine, path, given in _ports(spec):
        if engine.phase is not Phase.DECODE:
            if given is not None and number_in(given, most=_LAST) not in (None, ENGINE_PORT):
                words.append(f"{path}: --port {given}, but requests and probes come to {ENGINE_PORT}: listen there")
        elif given is None:
            words.append(
                f"{path} has no --port: the sidecar expects the engine on {_ASSUMED}, for it takes {ENGINE_PORT} "
                f"itself; let the engine listen there (--port={_ASSUMED})"
            )
    return words

"""The halves of a PrefillDecode pair: where each has to listen, and how KV caches get from one to the other."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from modelplane.composing.messages import sentences
from modelplane.kube.pod import PROBES
from modelplane.model.names import ENGINE_PORT
from modelplane.observed.engine_port import LAST_PORT, PORTS, Port, declared_ports, engine_port, known_port
from modelplane.observed.engines import ENGINES, is_scripted, known_engine
from modelplane.observed.fields import mapping
from modelplane.observed.flags import is_configured, read_flag

#: A port for a decode engine: its sidecar has the engines' port.
_DECODE_PORT: Final = 8001
#: Where the sidecar of a decode engine asks an SGLang that prefills for the KV cache, which is also SGLang's default.
_BOOTSTRAP_PORT: Final = 8998
_BOOTSTRAP: Final = "--disaggregation-bootstrap-port"


@dataclass(frozen=True, slots=True)
class Half:
    """An engine of a pair: `container` is the one that takes its requests, at `path` in the spec."""

    name: str
    decodes: bool
    container: Mapping[str, Any]
    path: str


def find_pair_problems(halves: Sequence[Half]) -> Iterator[str]:
    """Yield why a pair cannot serve as it is written, each with what to set."""
    for half in halves:
        for port in _ports(half):
            yield from _decode_problems(half, port) if half.decodes else _prefill_problems(half, port)
        yield from _probe_problems(half) if half.decodes else ()
    yield from _connector_problems(halves)


def find_pair_doubts(halves: Sequence[Half]) -> Iterator[str]:
    """Yield which halves are not told to be one: they answer, and the other half reads prompts for nothing."""
    for half in halves:
        known = known_engine(half.container)
        connector = known.connector
        if not connector or not known.name or is_scripted(half.container) or is_configured(half.container):
            continue
        if read_flag(half.container, connector.flag) is None:
            fault = f"{half.path}: {known.name} is not told that it is one of a pair, and passes no KV cache"
            value = connector.decode if half.decodes else connector.prefill
            yield sentences(fault, f"Give it {connector.flag}{f'={value}' if value else ''}.")


def _mode_problems(half: Half) -> Iterator[str]:
    """Yield that an engine is told to be the other half."""
    connector = known_engine(half.container).connector
    value = (connector.decode if half.decodes else connector.prefill) if connector else ""
    given = read_flag(half.container, connector.flag) if connector and value else None
    if connector and given in {connector.prefill, connector.decode} - {value}:
        phase = "Decode" if half.decodes else "Prefill"
        yield sentences(f"{half.path}: {connector.flag} is {given}, phase is {phase}", f"Set {connector.flag}={value}.")


def _ports(half: Half) -> Iterator[Port]:
    """Yield where a half listens: the port for its requests, then others on which it listens too, or instead."""
    port, known = engine_port(half.container), known_port(half.container)
    yield port
    if half.decodes:
        yield from (each for each in declared_ports(half.container)[1:] if each.number == ENGINE_PORT)
    if known is not None and known.number != port.number:
        yield known


def _listens(port: Port) -> str:
    """Return where an engine listens and why, for a message."""
    return f"{port.flag} is {port.given}" if port.given is not None else f"no {port.flag}, it listens on {port.number}"


def _set(half: Half, port: Port, setting: str) -> str:
    """Return what to set. A script is not read: an engine that is started by one may listen elsewhere already."""
    declares = port.given is None and not half.container.get(PORTS)
    return f"Set {setting}, or declare where it listens in {PORTS}." if declares else f"Set {setting}."


def _decode_problems(half: Half, port: Port) -> Iterator[str]:
    """Yield that a decode engine has no port of its own: requests come to its sidecar, which is in the same pod."""
    if port.is_unreadable:
        fault = f"{half.path}: {port.flag} {port.given!r} is not a port number from 1 to {LAST_PORT}"
    elif port.number == ENGINE_PORT:
        fault = f"{half.path}: {_listens(port)}, the port of the decode sidecar, which takes the requests"
    else:
        return
    yield sentences(fault, _set(half, port, f"another one, such as {port.setting(_DECODE_PORT)}"))


def _prefill_problems(half: Half, port: Port) -> Iterator[str]:
    """Yield that a prefill engine listens elsewhere than requests are sent; a port that is not read is assumed."""
    if not port.is_unreadable and port.number != ENGINE_PORT:
        fault = f"{half.path}: {_listens(port)}, requests and probes are sent to port {ENGINE_PORT}"
        yield sentences(fault, _set(half, port, port.setting(ENGINE_PORT)))


def _probe_problems(half: Half) -> Iterator[str]:
    """Yield probes of a decode engine that its sidecar answers: the pod would be ready without the engine."""
    port = engine_port(half.container).number
    for probe in PROBES:
        if mapping(mapping(half.container.get(probe)).get("httpGet")).get("port") == ENGINE_PORT != port:
            fault = (
                f"{half.path}.{probe}.httpGet.port is {ENGINE_PORT}, where the decode sidecar answers for itself alone"
            )
            yield sentences(fault, f"Set {port}, or remove it.")


def _connector_problems(halves: Sequence[Half]) -> Iterator[str]:
    """Yield that the halves cannot pass each other KV caches."""
    found = {half.name: known_engine(half.container) for half in halves}
    supported = " or ".join(each.name for each in ENGINES if each.connector)
    lacking = [f"{name} runs {engine.name}" for name, engine in found.items() if not engine.connector]
    if lacking:
        fault = f"spec.engines: {' and '.join(lacking)}, with which the decode sidecar has no KV connector"
        yield sentences(fault, f"Use {supported}.")
    elif len({engine.connector for engine in found.values()}) > 1:
        listed = " and ".join(f"{name} runs {engine.name or 'an unknown engine'}" for name, engine in found.items())
        yield sentences(f"spec.engines: {listed}, which pass KV caches in different ways", "Use one engine for both.")
    for half in halves:
        yield from _mode_problems(half)
        given = read_flag(half.container, _BOOTSTRAP)
        if not half.decodes and given not in (None, str(_BOOTSTRAP_PORT)):
            fault = f"{half.path}: {_BOOTSTRAP} is {given}, the decode sidecar asks on port {_BOOTSTRAP_PORT}"
            yield sentences(fault, f"Set {_BOOTSTRAP}={_BOOTSTRAP_PORT}, or remove it.")

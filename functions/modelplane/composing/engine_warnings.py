"""Warnings about probable mistakes in the engines of a ModelDeployment or ModelReplica."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from modelplane.composing.messages import sentences
from modelplane.composing.pair import Half, find_pair_doubts, find_pair_problems
from modelplane.model.deployment import PREFILL_DECODE, Role
from modelplane.model.names import ANNOTATION_PICKER, ENGINE_PORT, MODELS_PATH
from modelplane.observed.engine_port import declared_port, engine_port, told_port
from modelplane.observed.engines import is_scripted, known_engine, loopback_setting
from modelplane.observed.fields import mapping, mappings, text
from modelplane.observed.flags import is_configured, read_flag
from modelplane.observed.memo import once_per_version
from modelplane.observed.served_name import (
    container_of,
    is_staged,
    loaded_model,
    names_model,
    served_name,
    serving_container,
    weights_flag,
)
from modelplane.step import Object

#: The field of a member that claims devices: in a ModelDeployment, and in a ModelReplica.
_CLAIMS: Final = ("nodeSelector", "deviceRequests")


@dataclass(frozen=True, slots=True)
class _Engine:
    """An engine as written: `container` is that of the member which takes requests, at `path`."""

    name: str
    phase: str
    members: Sequence[Mapping[str, Any]]
    container: Mapping[str, Any]
    path: str

    def member(self, role: Role) -> Mapping[str, Any] | None:
        return next((each for each in self.members if each.get("role") == role), None)


def _engine(engine: Mapping[str, Any]) -> _Engine:
    at, container = serving_container(engine)
    path = f"spec.engines[{text(engine.get('name'))}].members[{at}].template.spec.containers[0]"
    members = list(mappings(engine.get("members")))
    return _Engine(text(engine.get("name")), text(engine.get("phase")), members, container, path)


@once_per_version
def find_warnings(obj: Object) -> tuple[str, ...]:
    """Return the probable mistakes in the engines of a ModelDeployment or ModelReplica, each with what to do."""
    spec = mapping(obj.body.get("spec"))
    engines = [_engine(each) for each in mappings(spec.get("engines"))]
    picked = mapping(obj.metadata.get("annotations")).get(ANNOTATION_PICKER) == "true"
    cached = bool(spec.get("modelCacheRef"))
    found = [*_weights(engines, cached=cached), *map(_workers, engines)]
    paired = mapping(spec.get("serving")).get("mode") == PREFILL_DECODE
    halves = [Half(e.name, e.phase == "Decode", e.container, e.path) for e in engines if paired]
    problems = [*find_pair_problems(halves)]
    # What a pair has to set is among its problems.
    found += [] if problems else map(_disagreeing_port, engines)
    found += map(_loopback, engines)
    found += map(_unequal_halves, engines)
    of_cache = (_unnamed_weights, _other_weights, _unused_weights)
    found += [warn(each) for warn in of_cache for each in engines] if cached else map(_unnamed_model, engines)
    if paired:
        prefilling = (each for each in engines if each.phase != "Decode")
        found += [*problems, *map(_unreadable_port, prefilling), *find_pair_doubts(halves)]
    else:
        found += [_several(engines), *map(_unreadable_port, engines)]
        found += [_picked_ports(engines)] if picked else []
    return tuple(filter(None, found))


def _weights(engines: Sequence[_Engine], *, cached: bool) -> Iterator[str]:
    """Yield which engines have no weights without a cache, and which download them to each of their pods."""
    for engine in () if cached else engines:
        loaded = loaded_model(engine.container) or ""
        if is_staged(loaded):
            fault = f"engine {engine.name} loads {loaded}, and without spec.modelCacheRef nothing is mounted there"
            yield sentences(fault, "Stage the weights in a ModelCache and name it.")
        elif engine.member(Role.WORKER) is not None:
            fault = f"engine {engine.name} is a gang without spec.modelCacheRef: every pod downloads the weights itself"
            yield sentences(fault, "Stage them in a ModelCache and name it.")


def _other_weights(engine: _Engine) -> str:
    """Return that an engine loads other weights than those of its cache, which it downloads then."""
    loaded = loaded_model(engine.container)
    if loaded is None or is_staged(loaded) or loaded.startswith(("/", "$", ".")):
        return ""
    fault = (
        f"engine {engine.name} loads {loaded}, which every pod downloads itself, although spec.modelCacheRef is staged"
    )
    return sentences(fault, f"Load {MODELS_PATH} instead, or remove spec.modelCacheRef.")


def _workers(engine: _Engine) -> str:
    worker, leader = engine.member(Role.WORKER), engine.member(Role.LEADER)
    if worker is None or leader is None or any(worker.get(claims) for claims in _CLAIMS):
        return ""
    fault = f"engine {engine.name}: its Worker requests no devices, so its pods get no GPU and may share a node"
    return sentences(fault, "Give it a nodeSelector.")


def _unnamed_model(engine: _Engine) -> str:
    """Return that a Worker of an engine that spans nodes is not told the model, and loads another one or none."""
    worker = engine.member(Role.WORKER)
    container = container_of(worker) if worker is not None else {}
    known = known_engine(container)
    if not known.name or not known.pipeline or names_model(container) or is_configured(container):
        return ""
    model = known.model[0] if known.model else "the model as an argument"
    return sentences(f"engine {engine.name}: its Worker is not told which model to load", f"Give it {model}.")


def _unused_weights(engine: _Engine) -> str:
    """Return that an engine does not load the weights of its cache: it names no model, and is given no flag for one."""
    container, known = engine.container, known_engine(engine.container)
    if (
        not known.name
        or is_scripted(container)
        or is_configured(container)
        or weights_flag(container)
        or loaded_model(container)
    ):
        return ""
    written = [*(container.get("command") or ()), *(container.get("args") or ())]
    written += [row.get("value") for row in mappings(container.get("env"))]
    if any(MODELS_PATH in text(each) for each in written):
        return ""
    fault = (
        f"engine {engine.name} runs {known.name}, which is not told to load the weights that spec.modelCacheRef stages"
    )
    return sentences(fault, f"Give it {known.loads_staged}, or remove spec.modelCacheRef.")


def _unnamed_weights(engine: _Engine) -> str:
    """Return that a Worker has no model to load: only members that take requests get the path of cached weights."""
    worker = engine.member(Role.WORKER)
    flag = weights_flag(container_of(worker)) if worker is not None else ""
    if not flag:
        return ""
    fault = f"engine {engine.name}: its Worker has no command and no {flag}, and is not told where the weights are"
    return sentences(fault, f"Give it a command, or the argument {flag}={MODELS_PATH}.")


def _unequal_halves(engine: _Engine) -> str:
    """Return that the halves of a gang are told different models, or sizes of it with which neither finds the other."""
    worker, known = container_of(engine.member(Role.WORKER) or {}), known_engine(engine.container)
    for flags in filter(None, (known.model, known.tensor, known.pipeline) if known.name else ()):
        leaders, workers = read_flag(engine.container, *flags), read_flag(worker, *flags)
        if leaders and workers and leaders != workers:
            fault = f"engine {engine.name}: {flags[0]} is {leaders} in its Leader and {workers} in its Worker"
            return sentences(fault, "Give both the same.")
    return ""


def _several(engines: Sequence[_Engine]) -> str:
    """Return that Unified engines behind one Service do not state that they serve one model."""
    names = {served_name(engine.container) for engine in engines}
    if len(engines) < 2 or (len(names) == 1 and None not in names):
        return ""
    listed = ", ".join(engine.name for engine in engines)
    fault = f"engines {listed} answer behind one Service, which sends a request to any of them"
    return sentences(fault, "Let them serve one model under one name, or make a ModelDeployment of each.")


def _unreadable_port(engine: _Engine) -> str:
    port = engine_port(engine.container)
    if not port.is_unreadable:
        return ""
    fault = f"{engine.path}: {port.flag} {port.given!r} is no port number, requests and probes go to {port.number}"
    return sentences(fault, f"Write the number, such as {port.setting(ENGINE_PORT)}.")


def _disagreeing_port(engine: _Engine) -> str:
    """Return that an engine is told another port than its `ports` declare, or has another one by default."""
    declared, told = declared_port(engine.container), told_port(engine.container)
    known = known_engine(engine.container)
    if declared is None or told.number == declared.number or told.is_unreadable:
        return ""
    if told.given is None and (not known.name or is_scripted(engine.container) or is_configured(engine.container)):
        return ""
    listens = f"{told.flag} is {told.given}" if told.given else f"{known.name} listens on {told.number}"
    fault = f"{engine.path}: {listens}, and requests and probes go to {declared.number}"
    return sentences(fault, f"Set {declared.setting(told.number)}, or {told.setting(declared.number)}.")


def _loopback(engine: _Engine) -> str:
    """Return that an engine listens on loopback alone, by default or as it is told."""
    setting = loopback_setting(engine.container)
    if not setting or is_configured(engine.container):
        return ""
    fault = f"{engine.path}: {known_engine(engine.container).name or 'the engine'} listens on loopback alone"
    return sentences(f"{fault}, where neither requests nor probes reach it", f"Set {setting}.")


def _picked_ports(engines: Sequence[_Engine]) -> str:
    ports = {engine.name: engine_port(engine.container).number for engine in engines}
    if len(set(ports.values())) < 2:
        return ""
    listed = ", ".join(f"{name} on {port}" for name, port in ports.items())
    first = next(iter(ports.values()))
    fault = f"engines listen on different ports ({listed}), and an endpoint picker sends all requests to port {first}"
    return sentences(fault, "Let them listen on one.")

"""The name under which an engine serves its model, read from its command and arguments."""

import re
from collections.abc import Mapping
from typing import Any, Final

from modelplane.model.deployment import Role
from modelplane.model.names import MODELS_PATH
from modelplane.observed.engines import MODEL_FLAGS, known_engine, starts_known_engine
from modelplane.observed.fields import mapping, mappings, text
from modelplane.observed.flags import following, read_flag
from modelplane.observed.memo import once_per_version
from modelplane.step import Object

#: A valid name of a model in a ModelEndpoint; it excludes shell variables.
_NAME: Final = re.compile(r"[A-Za-z0-9/][-A-Za-z0-9._:/@+]{0,255}")


def serving_container(engine: Mapping[str, Any]) -> tuple[int, Mapping[str, Any]]:
    """Return the index and the container of the member that takes an engine's requests; (0, {}) without members."""
    members = list(mappings(engine.get("members")))
    at = next((index for index, each in enumerate(members) if each.get("role") != Role.WORKER), 0)
    return at, container_of(members[at]) if members else {}


def container_of(member: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the engine container of a member, {} without one."""
    return next(iter(mappings(mapping(mapping(member.get("template")).get("spec")).get("containers"))), {})


def names_model(container: Mapping[str, Any]) -> bool:
    """Tell whether a container names its model: by a flag, a variable, or an argument, or in a script, not read."""
    engine = known_engine(container)
    variables = {row.get("name") for row in mappings(container.get("env"))}
    # In a command `-m` may be Python's.
    flags = engine.model if container.get("command") else MODEL_FLAGS
    if read_flag(container, *flags) is not None or engine.model_variable in variables:
        return True
    if container.get("command"):
        return bool(_argument(container)) or not starts_known_engine(container)
    return not text(next(iter(container.get("args") or ()), "-")).startswith("-")


def weights_flag(container: Mapping[str, Any]) -> str:
    """Return the flag by which an engine that names no model is given a folder of weights, "" if it is given none.

    One with a command is given none.
    """
    return "" if container.get("command") or names_model(container) else known_engine(container).weights


def served_name(container: Mapping[str, Any]) -> str | None:
    """Return the first name under which an engine serves its model: the flag's, else the model that it loads.

    None if its command does not contain it.
    """
    return read_flag(container, "--served-model-name") or loaded_model(container)


def loaded_model(container: Mapping[str, Any]) -> str | None:
    """Return the model that an engine loads, a path or the name of a repository; None if its command does not say."""
    # `-m` may be Python's.
    flags = [flag for flag in MODEL_FLAGS if flag.startswith("--")]
    return read_flag(container, *flags) or _argument(container) or _first_argument(container)


def is_staged(model: str) -> bool:
    """Tell whether a model is on the volume of a ModelCache."""
    return model == MODELS_PATH or model.startswith(f"{MODELS_PATH}/")


def _argument(container: Mapping[str, Any]) -> str | None:
    """Return the model if it is an argument of the engine's command, after one of its verbs."""
    engine = known_engine(container)
    found = (following(container, name, verb) for verb in reversed(engine.model_after) for name in engine.programs)
    return next(filter(None, found), None)


def _first_argument(container: Mapping[str, Any]) -> str | None:
    """Return the model if it is the first argument of the image's own command."""
    first = text(next(iter(container.get("args") or ()), ""))
    starts = container.get("command") or starts_known_engine(container)
    return None if starts or not _NAME.fullmatch(first) else first


@once_per_version
def served_model(replica: Object) -> str:
    """Return the first name under which the engines of a ModelReplica serve, "" if they differ or it is not known.

    An engine without a model of its own gets the path of the cache's weights and serves under that path.
    """
    spec = mapping(replica.body.get("spec"))
    containers = [serving_container(each)[1] for each in mappings(spec.get("engines"))]
    weights = MODELS_PATH if spec.get("modelCacheRef") else ""
    names = {served_name(each) or (weights if weights_flag(each) else "") for each in containers}
    name = names.pop() if len(names) == 1 else ""
    return name if _NAME.fullmatch(name) else ""

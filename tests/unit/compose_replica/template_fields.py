"""The fields of a ModelDeployment's template, each with an edit of it, as test inputs.

A new field of the XRD is in `LEAVES` by itself, and has to have a row in `EDITS` (or a reason in `ELSEWHERE`).
"""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final, get_args

from pydantic import BaseModel

from modelplane.api.modeldeployment import ModelDeploymentSpec

#: Fields that say where replicas run, how many, and how an edit reaches them; no replica has them.
ELSEWHERE: Final = frozenset(
    {
        "replicas",
        "replicaLabels",
        "rollout",
        "environmentSelector",
        "clusterSelector",
        "tolerations",
        "modelRef",
        "engines.name",  # another name is another engine
        "engines.members.template.spec.containers.name",  # always "engine"
    }
)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """Return the model that a field holds, alone or in a list; None for a plain value."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for each in get_args(annotation) if (found := _model_in(each))), None)


def _leaves(model: type[BaseModel], path: str = "") -> Iterator[str]:
    for name, field in model.model_fields.items():
        inner, at = _model_in(field.annotation), f"{path}{name}"
        if at in ELSEWHERE:
            continue
        if inner:
            yield from _leaves(inner, f"{at}.")
        else:
            yield at


#: Every field of the template that holds a value, by its path without indices.
LEAVES: Final = tuple(_leaves(ModelDeploymentSpec))

_CONTAINER: Final[dict[str, Any]] = {
    "name": "engine",
    "image": "vllm:1",
    "command": ["vllm"],
    "args": ["serve"],
    "env": [
        {"name": "PLAIN", "value": "a"},
        {"name": "SECRET", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k", "optional": False}}},
        {"name": "CONFIG", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k", "optional": False}}},
        {"name": "FIELD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name", "apiVersion": "v1"}}},
    ],
    "securityContext": {"capabilities": {"add": ["IPC_LOCK"]}, "seccompProfile": {"type": "RuntimeDefault"}},
    "ports": [{"name": "http", "containerPort": 9000}, {"name": "admin", "containerPort": 9001}],
    "startupProbe": {"httpGet": {"path": "/s", "port": 9000}},
    "readinessProbe": {"httpGet": {"path": "/r", "port": 9000}},
    "livenessProbe": {"httpGet": {"path": "/l", "port": 9000}},
    "resources": {"requests": {"cpu": 1, "memory": "1Gi"}, "limits": {"cpu": 2, "memory": "2Gi"}},
}
_MEMBER: Final[dict[str, Any]] = {
    "role": "Leader",
    "nodeSelector": {"devices": [{"name": "gpu", "count": 1, "selectors": [{"cel": "true"}]}]},
    "template": {
        "metadata": {"labels": {"team": "a"}, "annotations": {"note": "a"}},
        "spec": {"containers": [_CONTAINER], "sharedMemory": "1Gi", "imagePullSecrets": [{"name": "registry"}]},
    },
}
_WORKER: Final = {**_MEMBER, "role": "Worker", "worker": {"nodes": 1}}
_ALONE: Final = {**_MEMBER, "role": "Standalone"}
_PLAIN: Final = {"spec": {"containers": [{"name": "engine", "image": "vllm:1"}]}}
_HALF: Final = {"role": "Standalone", "template": _PLAIN}
#: The half that decodes has a port of its own.
_WRITES: Final = {
    "role": "Standalone",
    "template": {"spec": {"containers": [{"name": "engine", "image": "vllm:1", "args": ["--port=8001"]}]}},
}

#: A deployment of one gang with every field of its template, and one of a prefill and a decode engine.
GANG: Final[Mapping[str, Any]] = {
    "drainSeconds": 60,
    "modelCacheRef": {"name": "weights"},
    "serving": {"mode": "Unified"},
    "engines": [{"name": "main", "copies": 1, "replicasAcrossNodes": "preferred", "members": [_MEMBER, _WORKER]}],
}
PAIR: Final[Mapping[str, Any]] = {
    "serving": {"mode": "PrefillDecode"},
    "engines": [
        {"name": "one", "phase": "Prefill", "members": [_HALF]},
        {"name": "two", "phase": "Decode", "members": [_WRITES]},
    ],
}


@dataclass(frozen=True)
class Edit:
    """An edit of one field: `before` and `after` are specs of a ModelDeployment that differ in it."""

    field: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]

    def __str__(self) -> str:
        return self.field


def _edit(field: str, value: Any, before: Mapping[str, Any] = GANG) -> Edit:
    """Return the edit that sets a field to a value; the first entry of each list is edited."""
    after = deepcopy(dict(before))
    *parents, last = field.split(".")
    at: Any = after
    for each in parents:
        at = at[each]
        at = at[0] if isinstance(at, list) else at
    at[last] = value
    return Edit(field, before, after)


def _of_env(variable: int, field: str, *, to: Any) -> Edit:
    """Return the edit of a field of one variable."""
    edit = _edit("engines.members.template.spec.containers.env", deepcopy(_CONTAINER["env"]))
    at = edit.after["engines"][0]["members"][0]["template"]["spec"]["containers"][0]["env"][variable]
    *parents, last = field.split(".")
    for each in parents:
        at = at[each]
    at[last] = to
    return Edit(f"{edit.field}.{field}", edit.before, edit.after)


def _within(prefix: str, **values: Any) -> Iterator[Edit]:
    """Yield the edits of fields below a path; `__` in a name stands for a dot."""
    yield from (_edit(f"{prefix}.{name.replace('__', '.')}", value) for name, value in values.items())


_TEMPLATE: Final = "engines.members.template"
_SWAPPED: Final = [{**PAIR["engines"][1], "name": "one"}, {**PAIR["engines"][0], "name": "two"}]

EDITS: Final = (
    _edit("drainSeconds", 77),
    _edit("modelCacheRef.name", "others"),
    Edit("serving.mode", PAIR, {**PAIR, "serving": {"mode": "Unified"}}),
    _edit("engines.copies", 2),
    _edit("engines.replicasAcrossNodes", "none"),
    Edit("engines.phase", PAIR, {**PAIR, "engines": _SWAPPED}),
    Edit("engines.members.role", GANG, {**GANG, "engines": [{**GANG["engines"][0], "members": [_ALONE]}]}),
    Edit(
        "engines.members.worker.nodes",
        GANG,
        {**GANG, "engines": [{**GANG["engines"][0], "members": [_MEMBER, {**_WORKER, "worker": {"nodes": 2}}]}]},
    ),
    *_within("engines.members.nodeSelector.devices", name="accelerator", count=2, selectors__cel="false"),
    *_within(f"{_TEMPLATE}.metadata", labels={"team": "b"}, annotations={"note": "b"}),
    *_within(f"{_TEMPLATE}.spec", sharedMemory="3Gi", imagePullSecrets__name="other"),
    *_within(f"{_TEMPLATE}.spec.containers", image="vllm:2", command=["sglang"], args=["other"]),
    *_within(f"{_TEMPLATE}.spec.containers.securityContext", capabilities__add=["SYS_NICE"]),
    *_within(f"{_TEMPLATE}.spec.containers.securityContext", seccompProfile__type="Unconfined"),
    *_within(f"{_TEMPLATE}.spec.containers.resources", requests__cpu=2, requests__memory="2Gi"),
    *_within(f"{_TEMPLATE}.spec.containers.resources", limits__cpu=3, limits__memory="3Gi"),
    *_within(f"{_TEMPLATE}.spec.containers.ports", name="web", containerPort=9002),
    *_within(f"{_TEMPLATE}.spec.containers.startupProbe", httpGet__path="/s2", httpGet__port=9001),
    *_within(f"{_TEMPLATE}.spec.containers.readinessProbe", httpGet__path="/r2", httpGet__port="admin"),
    *_within(f"{_TEMPLATE}.spec.containers.livenessProbe", httpGet__path="/l2", httpGet__port=9001),
    _of_env(0, "name", to="OTHER"),
    _of_env(0, "value", to="b"),
    _of_env(1, "valueFrom.secretKeyRef.name", to="other"),
    _of_env(1, "valueFrom.secretKeyRef.key", to="other"),
    _of_env(1, "valueFrom.secretKeyRef.optional", to=True),
    _of_env(2, "valueFrom.configMapKeyRef.name", to="other"),
    _of_env(2, "valueFrom.configMapKeyRef.key", to="other"),
    _of_env(2, "valueFrom.configMapKeyRef.optional", to=True),
    _of_env(3, "valueFrom.fieldRef.fieldPath", to="metadata.uid"),
    _of_env(3, "valueFrom.fieldRef.apiVersion", to="v2"),
)

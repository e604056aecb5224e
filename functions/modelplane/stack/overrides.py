"""Which values of a part's chart an InferenceCluster may set, and what is wrong with those that it sets.

They are where pods run, what they take, and what differs between clusters. What parts need of one another, and names
that Modelplane looks for, are not among them.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from modelplane.stack.parts import PARTS, Part

_PODS: Final = ("affinity", "nodeSelector", "resources", "tolerations")


def _each(*of: str, keys: tuple[str, ...] = _PODS) -> tuple[str, ...]:
    return tuple(f"{name}.{key}" for name in of for key in keys)


#: Paths of the values that may be set, with all that is below them.
ALLOWED: Final[Mapping[Part, tuple[str, ...]]] = {
    Part.CERT_MANAGER: (
        *_PODS,
        "replicaCount",
        "global.imagePullSecrets",
        "global.priorityClassName",
        *_each("cainjector", "webhook", keys=(*_PODS, "replicaCount")),
    ),
    Part.GATEWAY: (
        "deployment.envoyGateway.resources",
        "deployment.pod",
        "deployment.priorityClassName",
        "deployment.replicas",
        "global.imagePullSecrets",
        "hpa",
        "podDisruptionBudget",
    ),
    Part.AI_GATEWAY: (
        *_each("controller", keys=(*_PODS, "imagePullSecrets", "replicaCount")),
        "extProc.imagePullSecrets",
        "extProc.logLevel",
        "global.imagePullSecrets",
    ),
    Part.LWS: (*_PODS, "imagePullSecrets", "replicaCount"),
    Part.NODE_FEATURE_DISCOVERY: (
        "imagePullSecrets",
        *_each("gc", "master", "worker"),
        "priorityClassName",
        "worker.config",
    ),
    Part.DRA: (
        *_each("controller", "kubeletPlugin", keys=("affinity", "nodeSelector", "priorityClassName", "tolerations")),
        "imagePullSecrets",
        "kubeletPlugin.containers",
        "nvidiaDriverRoot",
        "resources.computeDomains",
    ),
    Part.METRICS: (
        "alertmanager",
        "defaultRules",
        "global.imagePullSecrets",
        "grafana",
        "kube-state-metrics",
        "prometheus",
        "prometheus-node-exporter",
        "prometheusOperator",
    ),
    Part.INVENTORY: ("imagePullSecrets", "nodeSelector", "tolerations"),
}
#: What those of Modelplane's own part are: no chart reads them.
_TYPES: Final[Mapping[str, tuple[type, str]]] = {
    "imagePullSecrets": (list, "a list"),
    "nodeSelector": (Mapping, "a map"),
    "tolerations": (list, "a list"),
}
#: Most characters of the values of one part, as they are written.
_LONGEST: Final = 8192


def wrong_values(values: Mapping[str, Any]) -> str:
    """Return what is wrong with the values that `spec.stack.values` sets, by part, "" if nothing is."""
    for part, found in values.items():
        if part not in ALLOWED:
            return f"spec.stack.values has {part!r}, which is no part with values. They are {', '.join(ALLOWED)}"
        where = f"spec.stack.values.{part}"
        if not isinstance(found, Mapping):
            return f"{where} is {found!r}, and values of a chart are a map. Correct it"
        if len(str(found)) > _LONGEST:
            return f"{where} is longer than {_LONGEST} characters. Shorten it"
        allowed = ALLOWED[Part(part)]
        steps = [tuple(each.split(".")) for each in allowed]
        for path in _paths(found):
            if not any(path[: len(each)] == each for each in steps):
                unknown, title = ".".join(path), PARTS[Part(part)].title
                return f"{where} has the key {unknown}, which is not set for {title}. It may have {', '.join(allowed)}"
    for field, value in values.get(Part.INVENTORY, {}).items():
        expected, named = _TYPES[field]
        if not isinstance(value, expected):
            return f"spec.stack.values.{Part.INVENTORY}.{field} is {value!r}, and is to be {named}. Correct it"
    return ""


def _paths(values: Mapping[str, Any], before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the path of each value that is no map, or an empty one."""
    for key, value in values.items():
        path = (*before, str(key))
        if isinstance(value, Mapping) and value:
            yield from _paths(value, path)
        else:
            yield path

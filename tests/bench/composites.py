"""Composites of the functions that compose, and what they read beside them, by sizes within the bounds of the API.

`climb` looks among the sizes for those that cost a pass most, and `bench` keeps what it has found.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from bench.fleet import NAMESPACE, Manifest, cluster, from_server
from bench.passes import Scene, Store
from modelplane.model.names import API_VERSION, INFERENCE_GATEWAY, LABEL_CLUSTER

#: How many or how large each part of a composite is, by the part's name.
Sizes = Mapping[str, int]
#: What an API server holds of one object, in bytes.
OBJECT: Final = 1_400_000
#: Characters of command, args, env and annotations of a ModelReplica, and its selectors.
_CHARACTERS, _SELECTORS = 260_000, 256
#: What the words of a script are made of.
_WORDS: Final = ("x", '"a\\"\n\' ;--port', "--port=8000 ", "$(V0)", "\\\n", "a;", "# ", "'")
_NEEDED: Final = {"name": "gpu", "deviceClassName": "gpu.nvidia.com", "count": 1}


@dataclass(frozen=True, slots=True)
class Composite:
    """What the function of a step composes: the values that each size may have, and a composite of given sizes.

    `build` returns the composite and what teams write that is read beside it, `beside` what the platform writes.
    """

    step: str
    values: Mapping[str, tuple[int, ...]]
    build: Callable[[Sizes], tuple[Manifest, list[Manifest]]]
    beside: Callable[[], list[Manifest]] = list

    def drawn(self, random: Random) -> Sizes:
        """Return random sizes."""
        return {name: random.choice(values) for name, values in self.values.items()}

    def changed(self, random: Random, sizes: Sizes) -> Sizes:
        """Return sizes of which one or two differ."""
        names = random.sample(list(self.values), random.choice((1, 1, 2)))
        return {**sizes, **{name: random.choice(self.values[name]) for name in names}}

    def scene(self, sizes: Sizes) -> Scene | None:
        """Return the pass of a composite with these sizes, None if an API server does not hold one of its objects."""
        composite, written = self.build(sizes)
        one_of_each = {each["kind"]: each for each in (composite, *written)}.values()
        if any(len(json.dumps(each)) > OBJECT for each in one_of_each):
            return None
        return Scene(composite, {}, Store([*self.beside(), *written]))


def _object(kind: str, name: str, version: int, *, labels: Mapping[str, str] | None = None, **fields: Any) -> Manifest:
    api_version = "v1" if kind in {"Secret", "ConfigMap"} else API_VERSION
    metadata = {"name": name, "namespace": NAMESPACE, **({"labels": dict(labels)} if labels else {})}
    manifest = {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}
    return from_server(manifest, f"uid-{kind}-{name}", version)


def _sources(many: int, size: int, keys: int) -> Iterator[Manifest]:
    """Yield Secrets of about `size` bytes in `keys` keys."""
    data = {f"k{key}": "QUFB" * (size // keys // 4) for key in range(keys)}
    for number in range(many):
        yield _object("Secret", f"s{number}", 10_000 + number, data={**data, "token": "a2V5"}, type="Opaque")


def _clusters() -> list[Manifest]:
    found = []
    for number in range(100):
        there = cluster(number)
        storage = {"storageClassName": "rwx", "accessModes": ["ReadWriteMany"]}
        found.append({**there, "status": {**there["status"], "cache": storage}})
    return found


def _variables(sizes: Sizes) -> Iterator[Manifest]:
    for at in range(sizes["variables"]):
        if at < sizes["references"] and sizes["sources"]:
            reference = {"name": f"s{at % sizes['sources']}", "key": f"k{at % sizes['keys']}"}
            yield {"name": f"V{at}", "valueFrom": {"secretKeyRef": reference}}
        else:
            yield {"name": f"V{at}", "value": "$(V0)"}


def _member(sizes: Sizes, members: int) -> Manifest:
    """Return a member whose part of what all may have is as large as what its `members` leave to it."""
    requests = sizes["requests"]
    selectors = min(sizes["selectors"], _SELECTORS // (members * requests))
    room = _CHARACTERS // members
    variables = [*_variables(sizes)]
    while len(variables) * 260 > room:
        variables.pop()
    room -= 260 * len(variables)
    noted = min(sizes["annotations"], room // 1100)
    room -= 1100 * noted
    words = min(sizes["words"], room)
    length = min(65_000, room // words) if words else 0
    part = _WORDS[sizes["word"]]
    arguments = [(part * (length // len(part) + 1))[:length]] * words
    engine: Manifest = {"name": "engine", "image": "vllm/vllm-openai:v0.15.0", "env": variables, "args": arguments}
    if sizes["shell"]:
        engine["command"] = ["sh", "-c"]
    pulled = [{"name": f"s{at}"} for at in range(min(sizes["pulled"], sizes["sources"]))]
    annotations = {f"note.example.org/{at}": "x" * 1000 for at in range(noted)}
    return {
        "nodePoolName": "h200",
        "deviceRequests": [
            {
                **_NEEDED,
                "name": f"r{at}",
                "selectors": [{"cel": f'device.driver == "{at}-{one}"'} for one in range(selectors)],
            }
            for at in range(requests)
        ],
        "tolerations": [{"key": f"t{at}", "operator": "Exists"} for at in range(sizes["tolerations"])],
        "template": {
            "metadata": {"annotations": annotations},
            "spec": {"containers": [engine], "imagePullSecrets": pulled},
        },
    }


def _engines(sizes: Sizes) -> list[Manifest]:
    roles = ("Leader", "Worker") if sizes["workers"] else ("Standalone",)
    member = _member(sizes, sizes["engines"] * len(roles))
    members = [
        {**member, "role": role, **({"worker": {"nodes": sizes["workers"]}} if role == "Worker" else {})}
        for role in roles
    ]
    return [{"name": f"e{at}", "copies": sizes["copies"], "members": members} for at in range(sizes["engines"])]


def _replica(sizes: Sizes, number: int = 0) -> Manifest:
    spec = {"clusterName": "cluster-0000", "engines": _engines(sizes)}
    return _object("ModelReplica", f"costly-{number}", 3000 + number, labels={LABEL_CLUSTER: "cluster-0000"}, spec=spec)


def _replica_alone(sizes: Sizes) -> tuple[Manifest, list[Manifest]]:
    return _replica(sizes), [*_sources(sizes["sources"], sizes["bytes"], sizes["keys"])]


def _service(sizes: Sizes, number: int = 0) -> Manifest:
    """Return a ModelService of which each selector matches every endpoint of `_endpoint`."""
    width = sizes["label"]
    every = [(f"l{at}.{'x' * width}/l", "y" * min(63, width)) for at in range(16)]
    entries = [
        {
            "name": f"e{at}",
            "weight": 1 + at,
            "priority": at % 2,
            "selector": {"matchLabels": dict((every[at:] + every[:at])[: sizes["labels"]])},
        }
        for at in range(sizes["entries"])
    ]
    keys = [
        {"name": f"c{at}", "secretRef": {"name": f"s{at % sizes['sources']}", "key": f"k{at % sizes['keys']}"}}
        for at in range(sizes["callers"] if sizes["sources"] else 0)
    ]
    spec: Manifest = {"endpoints": entries}
    spec |= {"keys": keys} if keys else {}
    origins = [f"https://{'o' * 60}.{at}.example" for at in range(sizes["origins"])]
    spec |= {"cors": {"allowOrigins": origins}} if origins else {}
    annotations = {"note": "x" * sizes["note"]}
    status = {} if keys else {"address": f"http://gateway.example.org/{number}"}
    found = _object("ModelService", f"service-{number}", 7000 + number, spec=spec, status=status)
    return {**found, "metadata": {**found["metadata"], "annotations": annotations}}


def _endpoint(sizes: Sizes, number: int) -> Manifest:
    width = sizes["label"]
    labels = {f"l{at}.{'x' * width}/l": "y" * min(63, width) for at in range(16)}
    headers = {f"x-h{at}": "v" * 500 for at in range(sizes["headers"])}
    spec: Manifest = {"url": f"https://provider-{number}.example.org/v1", "model": "m", "headers": headers}
    status = {"routing": {"fqdn": f"provider-{number}.example.org", "port": 443, "ready": True, "backendName": "b"}}
    return _object("ModelEndpoint", f"endpoint-{number:04}", 6000 + number, labels=labels, spec=spec, status=status)


def _service_alone(sizes: Sizes) -> tuple[Manifest, list[Manifest]]:
    endpoints = [_endpoint(sizes, number) for number in range(sizes["endpoints"])]
    return _service(sizes), [*endpoints, *_sources(sizes["sources"], sizes["bytes"], sizes["keys"])]


def _gateway() -> Manifest:
    status = {"url": "http://gateway.example.org"}
    return _object("InferenceGateway", INFERENCE_GATEWAY, 5000, spec={}, status=status)


def _cache(sizes: Sizes) -> tuple[Manifest, list[Manifest]]:
    labels = {"tier": "production"} if sizes["selected"] else {}
    source: Manifest = {"repo": "o/" + "r" * sizes["repo"], "revision": "v" * sizes["revision"], "sizeGiB": 40}
    source |= {"authSecret": {"name": "s0", "key": "token"}} if sizes["sources"] else {}
    pulled = [{"name": f"s{at}"} for at in range(min(8, sizes["sources"]))]
    spec = {"source": "HuggingFace", "huggingFace": source, "imagePullSecrets": pulled}
    spec |= {"clusterSelector": {"matchLabels": labels}} if labels else {}
    return _object("ModelCache", "costly", 4000, spec=spec), [
        *_sources(sizes["sources"], sizes["bytes"], sizes["keys"])
    ]


def _residents(sizes: Sizes) -> tuple[Manifest, list[Manifest]]:
    return cluster(0), [_replica(sizes, number) for number in range(sizes["replicas"])]


def _listed(sizes: Sizes) -> tuple[Manifest, list[Manifest]]:
    return _gateway(), [_service(sizes, number) for number in range(sizes["services"])]


_SOURCES: Final = {
    "sources": (0, 1, 2, 8, 16, 32, 64),
    "bytes": (16, 1000, 50_000, 400_000, 900_000, 1_300_000),
    "keys": (1, 2, 10, 100, 1000, 10_000, 90_000),
}
_REPLICA: Final = {
    "engines": (1, 2, 4, 8),
    "copies": (1, 2, 16, 64),
    "workers": (0, 0, 1, 2, 63),
    "variables": (0, 1, 16, 64, 256),
    "references": (0, 0, 4, 16, 64, 256),
    "words": (0, 1, 2, 16, 256),
    "word": tuple(range(len(_WORDS))),
    "shell": (0, 1),
    "requests": (1, 2, 4, 16),
    "selectors": (0, 1, 8),
    "tolerations": (0, 1, 16),
    "annotations": (0, 0, 1, 8, 32),
    "pulled": (0, 0, 1, 8, 32),
    **_SOURCES,
}
_SERVICE: Final = {
    "entries": (1, 2, 4, 8, 16),
    "labels": (1, 2, 4, 16),
    "label": (1, 20, 60),
    "callers": (0, 1, 8, 64),
    "origins": (0, 1, 64),
    "note": (0, 1000, 200_000),
    **_SOURCES,
}
#: What each function composes that a team writes or that is read beside what teams write.
COMPOSITES: Final[Mapping[str, Composite]] = {
    "compose-replica": Composite("compose-replica", _REPLICA, _replica_alone, _clusters),
    "compose-endpoint": Composite(
        "compose-endpoint",
        {**_SERVICE, "endpoints": (0, 1, 10, 100, 1000, 2000), "headers": (0, 1, 16)},
        _service_alone,
        lambda: [_gateway()],
    ),
    "compose-cache": Composite(
        "compose-cache",
        {"selected": (0, 1), "repo": (1, 20, 190), "revision": (1, 40, 255), **_SOURCES},
        _cache,
        _clusters,
    ),
    "compose-cluster, replicas": Composite(
        "compose-cluster", {**_REPLICA, "replicas": (1, 2, 10, 50, 100, 400, 1000)}, _residents
    ),
    "compose-cluster, services": Composite(
        "compose-cluster", {**_SERVICE, "services": (1, 10, 50, 70, 200, 1000)}, _listed
    ),
}

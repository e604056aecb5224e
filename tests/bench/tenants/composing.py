"""Cases whose cost is in composing: words, variables, Secrets, Objects."""

from collections.abc import Callable, Iterator
from typing import Any

from bench.fleet import NAMESPACE, Manifest, deployment, from_server
from bench.passes import Scene
from bench.tenants.table import Case, fleet
from modelplane.model.names import API_VERSION, LABEL_CLUSTER
from modelplane.observed.flags import READ_LIMIT

_STEP = ("compose-replica",)
#: What an API server holds of one object, so that a spec cannot be larger.
_LARGEST = 1_300_000


def _member(**container: Any) -> Manifest:
    """Return a member of a ModelReplica that claims a device, with these fields of its container."""
    gpu = {"name": "gpu", "deviceClassName": "gpu.nvidia.com", "count": 1}
    engine = {"name": "engine", "image": "vllm/vllm-openai:v0.15.0", **container}
    template = {"spec": {"containers": [engine]}}
    return {"role": "Standalone", "nodePoolName": "h200", "deviceRequests": [gpu], "template": template}


def _replica(*engines: Manifest) -> Scene:
    """Return the pass of a ModelReplica as a tenant can write one by hand, beside the sources that it names."""
    metadata = {"name": "costly", "namespace": NAMESPACE, "labels": {LABEL_CLUSTER: "cluster-0000"}}
    spec = {"clusterName": "cluster-0000", "engines": list(engines)}
    manifest = {"apiVersion": API_VERSION, "kind": "ModelReplica", "metadata": metadata, "spec": spec}
    return Scene(from_server(manifest, "uid-costly", 3_000_000), {}, fleet(*_secrets(64)))


def _secrets(many: int) -> Iterator[Manifest]:
    for number in range(many):
        metadata = {"name": f"secret-{number}", "namespace": NAMESPACE}
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "Opaque"}
        yield from_server(secret, f"uid-secret-{number}", 4_000_000 + number)


def _engines(member: Callable[[int], Manifest], many: int = 8) -> list[Manifest]:
    return [{"name": f"e{number}", "copies": 1, "members": [member(number)]} for number in range(many)]


def _gang(number: int, copies: int) -> Manifest:
    leader = {**_member(), "role": "Leader"}
    worker = {**_member(), "role": "Worker", "worker": {"nodes": 63}}
    return {"name": f"e{number}", "copies": copies, "members": [leader, worker]}


def _variables(many: int) -> list[Manifest]:
    return [{"name": f"VARIABLE_{number}", "value": "value"} for number in range(many)]


def _from_secrets(first: int, many: int) -> list[Manifest]:
    return [
        {"name": f"V{number}", "valueFrom": {"secretKeyRef": {"name": f"secret-{number}", "key": "token"}}}
        for number in range(first, first + many)
    ]


def _pulling(many: int) -> Manifest:
    member = _member()
    member["template"]["spec"]["imagePullSecrets"] = [{"name": f"secret-{number}"} for number in range(many)]
    return member


def _scripts(number: int) -> Manifest:
    """Return a member whose script is as long as is read of one, and has a word and a quote at every other place."""
    part = '"a\\"\n\' ;--port'
    script = f"engine-{number} " + part * (READ_LIMIT // len(part) - 2)
    return _member(command=["sh", "-c", script])


def _edited() -> Scene:
    """Return the pass of a deployment whose ten thousand variables its one replica is to get."""
    wanted = deployment("costly", 1)
    (member,) = wanted["spec"]["engines"][0]["members"]
    member["template"]["spec"]["containers"][0]["env"] = _variables(10_000)
    return Scene(wanted, {}, fleet())


CASES: tuple[Case, ...] = (
    Case("a word of 1.3 MB in args", lambda: _replica(*_engines(lambda _: _member(args=["x" * _LARGEST]), 1)), _STEP),
    Case("eight scripts as long as are read", lambda: _replica(*_engines(_scripts)), _STEP),
    Case(
        "20,000 variables in a replica",
        lambda: _replica(*_engines(lambda _: _member(env=_variables(20_000)), 1)),
        _STEP,
    ),
    Case(
        "256 variables in each of eight engines, of 64 Secrets",
        lambda: _replica(
            *_engines(lambda number: _member(env=[*_variables(248), *_from_secrets(8 * number, 8)])),
        ),
        _STEP,
    ),
    Case("10,000 variables in a deployment", _edited, ("schedule", "compose-replica")),
    Case("30,000 pull secrets", lambda: _replica(*_engines(lambda _: _pulling(30_000), 1)), _STEP),
    Case("512 gangs of 64 pods in a replica", lambda: _replica(*(_gang(number, 64) for number in range(8))), _STEP),
)

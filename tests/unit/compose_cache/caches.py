"""ModelCaches, clusters, replicas and the Objects a provider would have made of what a pass wants, as test inputs."""

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from golden import inputs
from modelplane.compose_cache.cache import compose
from modelplane.model.conditions import Condition
from modelplane.preview.pipelines import Pipeline, pipeline_of
from modelplane.step import Object, Request, Result

#: Caches on one, three and five clusters; golden files beside them say what each composes.
CASES = inputs(Path(__file__).with_name("golden"), "cache")
COMMIT = "0123456789abcdef0123456789abcdef01234567"
SEEN_AT = "2026-01-02T03:04:05Z"
SOURCE = {"repo": "org/model", "revision": "main", "sizeGiB": 40}
SECRET = {"name": "hub", "key": "HF_TOKEN"}


def cache(source: Mapping[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """Return a ModelCache; `source` is laid over its huggingFace block."""
    return {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "ModelCache",
        "metadata": {"name": "weights", "namespace": "team"},
        "spec": {"source": "HuggingFace", "huggingFace": {**SOURCE, **(source or {})}},
        **fields,
    }


def cluster(name: str = "eu-1", storage: str = "rwx", **metadata: Any) -> dict[str, Any]:
    status: dict[str, Any] = {"providerConfigRef": {"name": name}}
    status |= {"cache": {"storageClassName": storage}} if storage else {}
    return {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "InferenceCluster",
        "metadata": {"name": name, **metadata},
        "status": status,
    }


def alone(kind: str) -> Pipeline | None:
    """Return the pipelines of a control plane that knows ModelCaches, and takes everything else as it is."""
    return pipeline_of(kind) if kind == "ModelCache.modelplane.ai" else None


def clusters(count: str) -> list[dict[str, Any]]:
    """Return one, three or five clusters; the fourth has no storage class for caches."""
    names = ("eu-1", "eu-2", "us-1", "us-2", "us-3")[: {"one": 1, "three": 3, "five": 5}[count]]
    found = [cluster(name, "" if name == "us-2" else "shared-files", labels={"tier": "research"}) for name in names]
    for each in found:
        each["spec"] = {"cluster": {"source": "Existing", "existing": {"secretRef": {"name": "kubeconfig"}}}}
    return found


def token() -> dict[str, Any]:
    """Return the Secret with the token of a gated repository."""
    metadata = {"name": "hugging-face", "namespace": "ml-team", "resourceVersion": "7"}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "Opaque"}


def replica(name: str, *volumes: str, begun: bool = True, on: str = "eu-1", uses: str = "weights") -> dict[str, Any]:
    """Return a ModelReplica that mounts `volumes`; one that has `begun` has composed something."""
    spec: dict[str, Any] = {"clusterName": on, "modelCacheRef": {"name": uses}}
    spec |= {"crossplane": {"resourceRefs": [{"kind": "Object", "name": "x"}]}} if begun else {}
    status = {"volumes": list(volumes)} if volumes else {}
    return {"kind": "ModelReplica", "metadata": {"name": name, "namespace": "team"}, "spec": spec, "status": status}


def secret(version: str = "1") -> dict[str, Any]:
    metadata = {"name": "hub", "namespace": "team", "resourceVersion": version}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "Opaque"}


def obj(body: Mapping[str, Any]) -> Object:
    """Return an observed object under a key of its own: no test shares another's cached reading."""
    return Object(copy.deepcopy(dict(body)), object())


def run(body: Mapping[str, Any], observed: Mapping[str, Any] | None = None, **required: Any) -> Result:
    """Run the step; `required` are the answers to its requirements by name (None: not fetched).

    `token` is the Secret that the cache names. The download of the claim u-1 has reported its commit.
    """
    answers = {"clusters": [cluster()], "token": [secret()], "replicas": [], "pods": [reporting()]} | required
    named = (((body.get("spec") or {}).get("huggingFace") or {}).get("authSecret") or SECRET)["name"]
    answers[f"source-Secret-{named}"] = answers.pop("token")
    return compose(
        Request(
            composite=obj(body),
            observed={name: obj(found) for name, found in (observed or {}).items()},
            required={name: tuple(map(obj, found)) for name, found in answers.items() if found is not None},
        )
    )


def ended(kind: str, message: str = "") -> dict[str, Any]:
    return {"conditions": [{"type": kind, "status": "True", "reason": "R", "message": message}]}


def reporting(commit: str = COMMIT, uid: str = "u-1", at: str = SEEN_AT) -> dict[str, Any]:
    """Return an Object that looks at a pod which has resolved a commit for the claim of this uid."""
    ended = {"exitCode": 0, "message": f"{commit}\n", "finishedAt": at}
    status = {"initContainerStatuses": [{"name": "resolve", "state": {"terminated": ended}}]}
    manifest = {"kind": "Pod", "metadata": {"name": "p", "labels": {"modelplane.ai/fills": uid}}, "status": status}
    return {"kind": "Object", "metadata": {"name": "p"}, "status": {"atProvider": {"manifest": manifest}}}


def provided(body: Mapping[str, Any], uid: str = "u-1", job: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return a wanted Object as its cluster has taken it: a claim is Bound, a Job as `job` says, else it runs."""
    found = copy.deepcopy(dict(body))
    if found["kind"] != "Object":
        return {**found, "metadata": {**found["metadata"], "name": "x"}}
    there = copy.deepcopy(found["spec"]["forProvider"]["manifest"])
    found["metadata"] = {**found["metadata"], "name": f"x-{there['kind'].lower()}"}
    if there["kind"] == "PersistentVolumeClaim":
        capacity = there["spec"]["resources"]["requests"]
        there["metadata"]["uid"], there["status"] = uid, {"phase": "Bound", "capacity": capacity}
    if there["kind"] == "Job":
        there["status"] = dict({"active": 1} if job is None else job)
    conditions = [{"type": kind, "status": "True", "lastTransitionTime": SEEN_AT} for kind in ("Synced", "Ready")]
    found["status"] = {"atProvider": {"manifest": there}, "conditions": conditions}
    return found


def observed(result: Result, **how: Any) -> dict[str, Any]:
    """Return what a pass wants as it is observed once its clusters have taken it."""
    return {name: provided(desired.build(), **how) for name, desired in result.desired.items()}


def passes(body: dict[str, Any], count: int, seen: Mapping[str, Any] | None = None, **how: Any) -> Result:
    """Run passes one after the other, each on what the one before has led to; return the last one's result.

    `how` is what `provided` takes, and answers to requirements as `run` takes them.
    """
    world = {name: how.pop(name) for name in ("uid", "job") if name in how}
    result = run(body, seen, **how)
    for _ in range(count - 1):
        body["status"] = dict(result.status or {})
        result = run(body, observed(result, **world), **how)
    body["status"] = dict(result.status or {})
    return result


def staged(source: Mapping[str, Any] | None = None, **fields: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a cache that is staged on eu-1, and what is observed of it."""
    body = cache(source, **fields)
    result = passes(body, 4, job=ended("Complete"))
    return body, observed(result)


def kinds(result: Result) -> dict[str, str]:
    """Return the kind of what each Object puts on its cluster, by resource name."""
    return {name: manifest(result, name)["kind"] for name in result.desired if not name.startswith("pods-")}


def named(result: Result, kind: str) -> list[str]:
    """Return the resource names of the Objects of a kind."""
    return sorted(name for name, found in kinds(result).items() if found == kind)


def manifest(result: Result, resource: str) -> dict[str, Any]:
    found: dict[str, Any] = result.desired[resource].build()["spec"]["forProvider"]["manifest"]
    return found


def rows(result: Result) -> dict[str, dict[str, Any]]:
    """Return the rows of the status by cluster."""
    assert result.status is not None
    return {row["name"]: row for row in result.status["clusters"]}


def condition(result: Result, kind: str = "ArtifactReady") -> Condition:
    return next(found for found in result.conditions if found.type == kind)

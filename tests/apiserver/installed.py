"""A file of install/ on the real API server for as long as a test needs it, and what it refuses whom."""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import yaml

from apiserver.server import Server
from modelplane_dev.folders import ROOT
from modelplane_dev.plane.api import Api, ApiError
from modelplane_dev.plane.waiting import eventually

Manifest = dict[str, Any]
#: Seconds after which what was applied or deleted is in force, or no more.
IN_FORCE = 180.0

ADMISSION, POLICY = "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy"
RBAC = "rbac.authorization.k8s.io"
REVIEW = "authorization.k8s.io/v1"
SENTINEL = "sentinel"
#: A policy that refuses one ConfigMap, and its binding. The server hears of policies in the order in which they are
#: written, so that with this one, the last, all before it are in force or lifted.
SENTINELS: tuple[Manifest, ...] = (
    {
        "apiVersion": ADMISSION,
        "kind": POLICY,
        "metadata": {"name": SENTINEL},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "resourceRules": [
                    {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE"]}
                ]
            },
            "validations": [{"expression": f"object.metadata.name != '{SENTINEL}'", "message": SENTINEL}],
        },
    },
    {
        "apiVersion": ADMISSION,
        "kind": f"{POLICY}Binding",
        "metadata": {"name": SENTINEL},
        "spec": {"policyName": SENTINEL, "validationActions": ["Deny"]},
    },
)
REFUSED: Manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": SENTINEL, "namespace": "team"}}

#: What users may do of whom each is bound once, by a role of each kind that no other has: the server hears of roles
#: and of bindings, too, in the order in which they are written, but of each kind apart, and of policies apart.
ALLOWED: tuple[Manifest, ...] = (
    {"verb": "get", "resource": "nodes"},
    {"verb": "list", "resource": "configmaps", "namespace": "team"},
)
_NUMBERS = itertools.count()


def _bound(user: str) -> Iterator[Manifest]:
    """Yield roles of a user's own, in the cluster and in a namespace, and what binds them."""
    for asked in ALLOWED:
        metadata = {"name": user, **({"namespace": asked["namespace"]} if "namespace" in asked else {})}
        role = "Role" if "namespace" in asked else "ClusterRole"
        rules = [{"apiGroups": [""], "resources": [asked["resource"]], "verbs": [asked["verb"]]}]
        yield {"apiVersion": f"{RBAC}/v1", "kind": role, "metadata": metadata, "rules": rules}
        yield {
            "apiVersion": f"{RBAC}/v1",
            "kind": f"{role}Binding",
            "metadata": metadata,
            "roleRef": {"apiGroup": RBAC, "kind": role, "name": user},
            "subjects": [{"kind": "User", "apiGroup": RBAC, "name": user}],
        }


def _allowed(api: Api, user: str) -> bool:
    """Return whether the server has heard of all that binds a user."""
    specs = [{"user": user, "resourceAttributes": asked} for asked in ALLOWED]
    reviews = [{"apiVersion": REVIEW, "kind": "SubjectAccessReview", "spec": spec} for spec in specs]
    answers = [api.request("POST", f"/apis/{REVIEW}/subjectaccessreviews", review) for review in reviews]
    return all(answer["status"]["allowed"] for answer in answers)


@contextmanager
def installed(server: Server, file: str, *more: Manifest) -> Iterator[Server]:
    """Apply a file of install/ and more, and take it away afterwards; both wait until the server goes by it."""
    api, last = server.cluster.api, f"{SENTINEL}-{next(_NUMBERS)}"
    made = [*yaml.safe_load_all((ROOT / "install" / file).read_text()), *more, *_bound(last), *SENTINELS]

    def in_force() -> None:
        assert SENTINEL in server.refusal(REFUSED)
        assert _allowed(api, last)

    def lifted() -> None:
        assert server.refusal(REFUSED) == ""

    for manifest in made:
        api.apply(manifest)
    try:
        eventually(in_force, within=IN_FORCE)
        yield server
    finally:
        # Policies first, the sentinel last: without its binding it would be silent before the others are lifted.
        for manifest in sorted(made, key=lambda each: each["kind"] != POLICY):
            api.request("DELETE", f"{server.path(manifest)}/{manifest['metadata']['name']}")
        eventually(lifted, within=IN_FORCE)


def refusal(server: Server, user: str, manifest: Manifest) -> str:
    """Return the words with which a user is refused to create an object, "" where the server would take it."""
    return Server(server.cluster, server.resources, server.cluster.api_of(user)).refusal(manifest)


def refusal_of_change(api: Api, path: str, change: Manifest) -> str:
    """Return the words with which a change is refused, "" where the server would take it."""
    try:
        api.request("PATCH", f"{path}?dryRun=All", change, "application/merge-patch+json")
    except ApiError as error:
        return str(error)
    return ""

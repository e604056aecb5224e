"""On a real API server an object that is stored over a bound can be worked with; what is too large cannot change."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import pytest

from apiserver.installed import IN_FORCE
from apiserver.server import Manifest, Server
from modelplane_dev.plane.api import ApiError
from modelplane_dev.plane.crossplane import establish
from modelplane_dev.plane.waiting import eventually
from unit.api.cases import example
from unit.preview import ratcheting

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
PATCH = "application/merge-patch+json"
TOO_MANY = "must have at most 256 items"


def container(obj: Manifest) -> Manifest:
    found: Manifest = obj["spec"]["engines"][0]["members"][0]["template"]["spec"]["containers"][0]
    return found


def over_bound(kind: str) -> Manifest:
    """Return an object of a kind with more variables than it may have."""
    obj = example(kind)
    obj["metadata"] = {"name": "over-bound", "namespace": "team"}
    container(obj)["env"] = [{"name": f"V{number}"} for number in range(300)]
    return obj


def path(obj: Manifest, name: str = "") -> str:
    return f"/apis/modelplane.ai/v1alpha1/namespaces/team/{obj['kind'].lower()}s{name and '/' + name}"


def refusal(server: Server, method: str, where: str, body: Any, content: str = "application/json") -> str:
    """Return the words with which a dry run of a request is refused, "" when it is taken."""
    try:
        server.cluster.api.request(method, f"{where}?dryRun=All", body, content)
    except ApiError as error:
        return str(error)
    return ""


@contextmanager
def stored(server: Server, obj: Manifest) -> Iterator[None]:
    """Store an object while its definition still admits a thousand variables, then bring the bound back."""
    api, crd = server.cluster.api, f"{CRDS}/{obj['kind'].lower()}s.modelplane.ai"

    def variables(most: int) -> None:
        (version,) = api.request("GET", crd)["spec"]["versions"]
        members = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["engines"]["items"]
        pod = members["properties"]["members"]["items"]["properties"]["template"]["properties"]["spec"]
        pod["properties"]["containers"]["items"]["properties"]["env"]["maxItems"] = most
        # Merged, not put: the server itself writes the definition's status meanwhile.
        api.request("PATCH", crd, {"spec": {"versions": [version]}}, PATCH)

    def taken() -> None:
        assert refusal(server, "POST", path(obj), obj) == ""

    def refused() -> None:
        another = {**obj, "metadata": {**obj["metadata"], "name": "another"}}
        assert TOO_MANY in refusal(server, "POST", path(obj), another)

    variables(1000)
    try:
        eventually(taken, within=IN_FORCE)
        api.request("POST", path(obj), obj)
    finally:
        variables(256)
    eventually(refused, within=IN_FORCE)
    try:
        yield
    finally:
        api.request("DELETE", path(obj, "over-bound"))


def _other_copies(obj: Manifest) -> None:
    obj["spec"]["engines"][0]["copies"] = 3


def _other_labels(obj: Manifest) -> None:
    obj["metadata"]["labels"] = {"modelplane.ai/cluster": "eu-1"}


def _other_image(obj: Manifest) -> None:
    container(obj)["image"] = "another"


EDITS: dict[str, tuple[Callable[[Manifest], None], bool]] = {
    "copies beside the members": (_other_copies, True),
    "labels": (_other_labels, True),
    "the members, which are one value": (_other_image, False),
}


@pytest.mark.parametrize("kind", ["ModelDeployment", "ModelReplica"])
def test_a_stored_object_over_a_bound_takes_every_write_but_one_of_its_members(server: Server, kind: str) -> None:
    obj = over_bound(kind)
    with stored(server, obj):
        held = server.cluster.api.request("GET", path(obj, "over-bound"))
        for name, (edit, takes) in EDITS.items():
            edited = deepcopy(held)
            edit(edited)
            answer = refusal(server, "PUT", path(obj, "over-bound"), edited)
            assert (answer == "", takes or TOO_MANY in answer) == (takes, True), name
        status = {"status": {"conditions": [], "served": True} if kind == "ModelReplica" else {"unplaced": 0}}
        assert refusal(server, "PATCH", path(obj, "over-bound/status"), status, PATCH) == ""
        if kind == "ModelDeployment":
            scale = {"spec": {"replicas": 3}}
            assert refusal(server, "PATCH", path(obj, "over-bound/scale"), scale, PATCH) == ""


def sample_definition(schema: Manifest) -> Manifest:
    """Return the definition of the kind of the preview's cases, with this schema."""
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{ratcheting.PLURAL}.{ratcheting.GROUP}"},
        "spec": {
            "group": ratcheting.GROUP,
            "scope": "Cluster",
            "names": {"kind": ratcheting.KIND, "plural": ratcheting.PLURAL},
            "versions": [version],
        },
    }


def test_updates_are_taken_and_refused_as_the_preview_has_it(server: Server) -> None:
    api, where = server.cluster.api, f"/apis/{ratcheting.GROUP}/v1/{ratcheting.PLURAL}"
    cases = list(ratcheting.cases())
    establish(server.cluster, iter([sample_definition(ratcheting.loose())]))
    held = [api.request("POST", where, case.before) for case in cases]
    definition = f"{CRDS}/{ratcheting.PLURAL}.{ratcheting.GROUP}"
    stricter = sample_definition(ratcheting.strict())["spec"]
    api.request("PATCH", definition, {"spec": stricter}, PATCH)

    def taken_over() -> None:
        new = {**cases[0].before, "metadata": {"name": "new"}}
        assert "should be less than or equal to 10" in refusal(server, "POST", where, new)

    eventually(taken_over, within=IN_FORCE)
    answers = {}
    for case, before in zip(cases, held, strict=True):
        metadata = {**before["metadata"], **case.after["metadata"]}
        words = refusal(server, "PUT", f"{where}/{metadata['name']}", {**case.after, "metadata": metadata})
        answers[case.rule] = (bool(words), case.refused in words, words)
    assert {rule: words for rule, words in answers.items() if not words[1]} == {}
    assert {rule for rule, words in answers.items() if words[0]} == {case.rule for case in cases if case.refused}

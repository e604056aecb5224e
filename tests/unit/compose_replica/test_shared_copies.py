"""One copy of a Secret serves all replicas of a team on a cluster, from the first that names it to the last."""

from typing import Any

import pytest

from modelplane.preview import ControlPlane
from unit.compose_replica import replicas as given
from unit.compose_replica.test_copies import naming, ref

SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "token", "namespace": "team"},
    "data": {"k": "dg=="},
}


def _replica(name: str, *env: dict[str, Any]) -> dict[str, Any]:
    body = naming(*env)
    return {**body, "metadata": {**body["metadata"], "name": name}}


def plane(*names: str, unlabelled: str = "") -> ControlPlane:
    """Return a control plane at rest where replicas of these names use one Secret; one may have lost its labels."""
    replicas = [_replica(name, ref("Secret", "token")) for name in names]
    cluster = {**given.cluster(), "spec": {"cluster": {"source": "Existing", "existing": {"secretRef": {"name": "k"}}}}}
    made = ControlPlane([cluster, SECRET, *replicas], pipelines=given.alone)
    assert made.settle()
    for replica in made.list("ModelReplica"):
        if replica["metadata"]["name"] == unlabelled:
            del replica["metadata"]["labels"]
            made.apply(replica)
    assert made.settle()
    return made


def copy(control: ControlPlane) -> dict[str, Any] | None:
    """Return the one Object that copies the Secret, None when there is none."""
    found = [
        each
        for each in control.list("Object")
        if each["spec"]["forProvider"]["manifest"]["kind"] == "Secret" and not each["metadata"].get("deletionTimestamp")
    ]
    assert len(found) <= 1
    return found[0] if found else None


def users(control: ControlPlane) -> tuple[str, set[str]]:
    """Return the replica that composes the copy, and the others that own it."""
    owners = (copy(control) or {})["metadata"]["ownerReferences"]
    (holder,) = (owner["name"] for owner in owners if owner.get("controller"))
    return holder, {owner["name"] for owner in owners} - {holder}


def test_one_replica_composes_the_copy_and_all_own_it() -> None:
    control = plane("a", "b", "c")
    holder, others = users(control)
    assert {holder} | others == {"a", "b", "c"}
    assert all(replica["status"]["served"] for replica in control.list("ModelReplica"))


@pytest.mark.parametrize("unlabelled", ["", "a", "b"])
@pytest.mark.parametrize("edited", [True, False])
def test_the_copy_outlives_the_replica_that_composed_it(edited: bool, unlabelled: str) -> None:
    control = plane("a", "b", unlabelled=unlabelled)
    holder, (other,) = users(control)
    before = copy(control)
    assert before is not None
    if edited:
        control.apply(_replica(holder))
    else:
        control.delete("ModelReplica", "team", holder)
    assert control.settle()
    after = copy(control)
    assert after is not None
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert users(control) == ((holder, {other}) if edited else (other, set()))


def test_the_copy_goes_with_the_last_replica_that_uses_it() -> None:
    control = plane("a", "b")
    for name in ("a", "b"):
        control.delete("ModelReplica", "team", name)
    assert control.settle()
    assert copy(control) is None


def test_the_copy_goes_when_the_last_replica_stops_to_name_it() -> None:
    control = plane("a", "b")
    for name in ("a", "b"):
        control.apply(_replica(name))
        assert control.settle()
    assert copy(control) is None
    assert all(replica["status"]["served"] for replica in control.list("ModelReplica"))


def test_a_secret_in_use_waits_when_it_is_deleted_and_what_runs_keeps_running() -> None:
    control = plane("a")
    control.delete("Secret", "team", "token")
    assert control.settle()
    assert control.get("Secret", "team", "token") is not None
    assert copy(control) is not None
    control.delete("ModelReplica", "team", "a")
    assert control.settle()
    assert control.get("Secret", "team", "token") is None


def test_no_value_of_a_secret_is_in_any_object_but_the_secret_itself() -> None:
    control = plane("a", "b")
    assert "dg==" not in repr([each for each in control.everything() if each["kind"] != "Secret"])


def sharing(*names: str) -> ControlPlane:
    """Return a control plane at rest where replicas of these names use one Secret.

    Each is on an InferenceCluster of its own, and all of these reach one cluster.
    """
    spec = {"cluster": {"source": "Existing", "existing": {"secretRef": {"name": "k"}}}}
    objects: list[dict[str, Any]] = [SECRET]
    for name in names:
        found = {**given.cluster(), "spec": spec}
        others = [f"of-{other}" for other in names if other != name]
        found["status"] = {**found["status"], "clusterUID": "uid-1", "sharedWith": others}
        found["status"]["providerConfigRef"] = {"name": f"modelplane-cluster-of-{name}"}
        objects.append({**found, "metadata": {"name": f"of-{name}"}})
        replica = _replica(name, ref("Secret", "token"))
        labels = {**replica["metadata"]["labels"], "modelplane.ai/cluster": f"of-{name}"}
        metadata = {**replica["metadata"], "labels": labels}
        objects.append({**replica, "metadata": metadata, "spec": {**replica["spec"], "clusterName": f"of-{name}"}})
    made = ControlPlane(objects, pipelines=given.alone)
    assert made.settle()
    return made


@pytest.mark.parametrize("which", ["the one that composes it", "the other"])
def test_replicas_of_two_inferenceclusters_of_one_cluster_share_the_copy(which: str) -> None:
    control = sharing("a", "b")
    holder, (other,) = users(control)
    before = copy(control)
    assert before is not None
    ended, left = (holder, other) if which == "the one that composes it" else (other, holder)
    control.delete("ModelReplica", "team", ended)
    assert control.settle()
    after = copy(control)
    assert after is not None
    assert after["metadata"]["uid"] == before["metadata"]["uid"], "it was not deleted meanwhile"
    assert users(control) == (left, set())
    assert after["spec"]["providerConfigRef"]["name"] == f"modelplane-cluster-of-{left}"
    control.delete("ModelReplica", "team", left)
    assert control.settle()
    assert copy(control) is None

"""A cluster belongs to the installation of Modelplane that marked it first."""

from typing import Any

from modelplane.model.conditions import Status
from modelplane.step import Result
from unit.compose_cluster import clusters as given
from unit.compose_cluster.test_own_gateway import TRUSTED, made, ours

PUBLISHED = {"clusterUID": "uid-1", "gateway": {"address": "gw.example.org"}}


def named(name: str = "here") -> dict[str, Any]:
    metadata = {"name": "modelplane-installation", "namespace": "modelplane-system"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"id": name}}


def reached(mark: str | None = None, **more: Any) -> dict[str, Any]:
    """Return a cluster that answers; `mark` is the id that is seen on it, "" for none yet, None without an Object."""
    seen = given.reached(**{"kube-system": given.looking("Namespace", {"metadata": {"uid": "uid-1"}})})
    if mark is not None:
        seen["installation"] = given.looking("ConfigMap", {"data": {"id": mark}} if mark else None)
    return seen | more


def run(mark: str | None = None, body: dict[str, Any] | None = None, **more: Any) -> Result:
    answers = {"installation": [named()], "same_cluster": []} | more
    return given.run(body or given.cluster(), reached(mark), **answers)


def policies(result: Result) -> list[str]:
    found: list[str] = given.bodies(result)["installation"]["spec"]["managementPolicies"]
    return found


def test_a_cluster_is_marked_with_the_id_of_its_installation_and_a_mark_that_is_there_is_never_changed() -> None:
    result = run()
    mark = given.bodies(result)["installation"]["spec"]
    assert mark["forProvider"]["manifest"]["metadata"]["namespace"] == "kube-system"
    assert mark["forProvider"]["manifest"]["data"] == {"id": "here"}
    assert policies(result) == ["Observe", "Create"]
    assert policies(run("there")) == ["Observe", "Create"]
    assert policies(run("here")) == ["Observe", "Create", "Delete"]


def test_a_new_cluster_is_not_placed_on_before_its_mark_was_seen() -> None:
    waiting = given.condition(run(""), "ClusterReady")
    assert (waiting.status, waiting.reason) == (Status.FALSE, "Provisioning")
    assert "is being marked with the id of this installation, here" in waiting.message
    assert given.condition(run("here"), "ClusterReady").status is Status.TRUE


def test_a_cluster_that_is_in_use_stays_in_use_while_it_is_marked() -> None:
    result = run("", given.cluster(status=PUBLISHED))
    assert given.condition(result, "ClusterReady").status is Status.TRUE


def test_a_cluster_of_another_installation_takes_nothing_new_and_says_whose_it_is() -> None:
    result = run("there", given.cluster(status=PUBLISHED))
    found = given.condition(result, "ClusterReady")
    assert (found.status, found.reason) == (Status.FALSE, "OtherInstallation")
    assert "with id there has this cluster, this one has id here" in found.message
    assert given.bodies(result).keys() >= {"provider-config", "kube-system", "gateway", "installation"}
    assert given.status(result)["gateway"]["address"] == "gw.example.org"


def test_an_installation_without_id_marks_nothing_and_keeps_a_mark_that_it_made() -> None:
    without = given.run(given.cluster(), reached(), installation=[], same_cluster=[])
    assert "installation" not in given.bodies(without)
    assert given.condition(without, "ClusterReady").status is Status.TRUE
    kept = given.run(given.cluster(), reached("here"), installation=None, same_cluster=[])
    assert "installation" in given.bodies(kept)


def test_the_mark_of_an_abandoned_cluster_is_left_there() -> None:
    body = given.cluster()
    body["metadata"]["annotations"] = {"modelplane.ai/abandon": "true"}
    assert policies(run("here", body)) == ["Observe", "Create"]


def test_on_a_cluster_of_another_installation_the_gateway_is_only_observed_until_the_mark_is_gone() -> None:
    body = given.cluster(status=PUBLISHED)
    seen = made(ours("gw.example.org")) | reached("there")
    answers = {"installation": [named()], "same_cluster": [], "gateway": TRUSTED}
    theirs = given.bodies(given.run(body, seen, **answers))
    on_cluster = {name: each for name, each in theirs.items() if name in ("gateway", *parts_of(theirs))}
    assert {tuple(each["spec"]["managementPolicies"]) for each in on_cluster.values()} == {("Observe",)}
    assert theirs["installation"]["spec"]["managementPolicies"] == ["Observe", "Create"], "to mark it once it is free"
    freed = seen | {name: seen[name] | theirs[name] for name in on_cluster} | {"gateway": ours("gw.example.org")}
    ours_again = given.bodies(given.run(body, freed | reached("here"), **answers))
    usual = given.bodies(given.run(body, seen | reached("here"), **answers))
    assert {name: ours_again[name] for name in on_cluster} == {name: usual[name] for name in on_cluster}


def parts_of(bodies: dict[str, Any]) -> list[str]:
    return [name for name, each in bodies.items() if name.startswith("gateway-part-") and each["kind"] == "Object"]


def test_a_cluster_of_another_installation_that_does_not_answer_stays_theirs_and_says_both() -> None:
    lost = given.looking("Namespace", {"metadata": {"uid": "uid-1"}}, "dial tcp: connection refused")
    seen = reached("there") | {"kube-system": lost}
    body = given.cluster(status=PUBLISHED)
    found = given.condition(given.run(body, seen, installation=[named()], same_cluster=[]), "ClusterReady")
    assert found.reason == "OtherInstallation", "as Unreachable its replicas would write there once it answers"
    assert "with id there has this cluster" in found.message
    assert "connection refused" in found.message

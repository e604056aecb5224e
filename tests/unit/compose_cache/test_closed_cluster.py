"""On a cluster that is closed to the namespace of a cache nothing new is staged, and nothing is removed."""

from typing import Any

from unit.compose_cache import caches as given

NAMESPACE = {"apiVersion": "v1", "kind": "Namespace"}


def closed(name: str = "eu-1") -> dict[str, Any]:
    allowed = {"from": "Selector", "selector": {"matchLabels": {"tier": "gold"}}}
    return {**given.cluster(name), "spec": {"allowedNamespaces": allowed}}


def team(**labels: str) -> dict[str, Any]:
    return {**NAMESPACE, "metadata": {"name": "team", "labels": labels}}


def test_nothing_is_staged_on_a_cluster_that_is_closed_to_the_namespace() -> None:
    clusters = [closed(), given.cluster("eu-2")]
    result = given.passes(given.cache(), 3, None, clusters=clusters, **{"namespace-team": [team()]})
    rows = given.rows(result)
    assert rows["eu-1"]["phase"] == "Pending"
    assert "closed to namespace team, which lacks label tier=gold" in rows["eu-1"]["message"]
    assert {each.build()["spec"]["providerConfigRef"]["name"] for each in result.desired.values()} == {"eu-2"}


def test_a_namespace_with_the_labels_is_staged_there() -> None:
    result = given.passes(given.cache(), 2, None, clusters=[closed()], **{"namespace-team": [team(tier="gold")]})
    assert given.named(result, "Job")


def test_what_is_staged_stays_where_a_cluster_is_closed_later() -> None:
    body, seen = given.staged()
    result = given.run(body, seen, clusters=[closed()], **{"namespace-team": [team()]})
    assert given.rows(result)["eu-1"]["phase"] == "Ready"
    assert given.named(result, "PersistentVolumeClaim")


def test_the_namespace_is_fetched_only_where_a_cluster_selects_namespaces_and_nothing_changes_before() -> None:
    asked = {each.kind for each in given.run(given.cache(), clusters=[given.cluster()]).requirements}
    assert "Namespace" not in asked
    waiting = given.run(given.cache(), clusters=[closed()])
    assert "Namespace" in {each.kind for each in waiting.requirements}
    assert waiting.desired == {}

"""On a cluster that is another one than it was, or another's, nothing new is staged and nothing is removed."""

from typing import Any

import pytest

from unit.compose_cache import caches as given

REASONS = ("IdentityChanged", "DuplicateCluster", "OtherInstallation")


def cluster(reason: str) -> dict[str, Any]:
    found = given.cluster()
    row = {"type": "ClusterReady", "status": "False", "reason": reason, "message": "it is another one"}
    found["status"]["conditions"] = [row]
    return found


@pytest.mark.parametrize("reason", REASONS)
def test_nothing_is_composed_on_such_a_cluster_and_the_cache_says_why(reason: str) -> None:
    result = given.passes(given.cache(), 3, clusters=[cluster(reason)])
    assert result.desired == {}
    row = given.rows(result)["eu-1"]
    assert (row["phase"], row["message"]) == ("Pending", "it is another one")


@pytest.mark.parametrize("reason", REASONS)
def test_what_is_staged_there_stays_and_stays_published(reason: str) -> None:
    body, seen = given.staged()
    result = given.run(body, seen, clusters=[cluster(reason)])
    assert given.rows(result)["eu-1"]["phase"] == "Ready"
    assert {name: each.build()["spec"] for name, each in result.desired.items()} == {
        name: found["spec"] for name, found in seen.items() if not name.startswith(("hydration-", "pods-"))
    }


@pytest.mark.parametrize("reason", REASONS)
def test_a_download_that_has_begun_there_is_kept_and_none_is_begun(reason: str) -> None:
    body = given.cache()
    running = given.passes(body, 3)
    after = given.run(body, given.observed(running), clusters=[cluster(reason)])
    assert given.named(after, "Job") == given.named(running, "Job")
    fresh = given.cache()
    bound = given.run(fresh)
    assert given.named(given.run(fresh, given.observed(bound), clusters=[cluster(reason)]), "Job") == []


@pytest.mark.parametrize("reason", ["Unreachable", "WaitingForClasses", "ClusterRunning"])
def test_every_other_reason_of_a_cluster_changes_nothing(reason: str) -> None:
    result = given.passes(given.cache(), 2, clusters=[cluster(reason)])
    assert given.named(result, "Job")

"""Whatever a provider answers or not, nothing of a serving stack is lost, and nothing is installed over another's."""

from hypothesis import given
from hypothesis import strategies as st

from modelplane.stack import PARTS
from property.stack_histories import CLUSTERS, EVENTS, Event
from unit.compose_cluster.stacks import Cluster

EXTERNAL_NAME = "crossplane.io/external-name"
HISTORIES = st.lists(EVENTS, min_size=1, max_size=8)


def names(cluster: Cluster) -> dict[str, str]:
    """Return the external name of each Release."""
    releases = {name: body for name, body in cluster.composed.items() if body["kind"] == "Release"}
    return {name: body["metadata"]["annotations"][EXTERNAL_NAME] for name, body in releases.items()}


@given(CLUSTERS, HISTORIES)
def test_nothing_that_was_composed_is_left_out_and_no_release_loses_its_name_or_may_be_deleted(
    cluster: Cluster, history: list[Event]
) -> None:
    for event in history:
        before, called = set(cluster.composed), names(cluster)
        event.happen(cluster)
        cluster.turn(event.silent)
        assert before <= set(cluster.composed)
        assert called.items() <= names(cluster).items()
        assert all(name == f"release-{given_name.removeprefix('mp-')}" for name, given_name in names(cluster).items())
        for body in cluster.composed.values():
            assert {"Delete", "*"}.isdisjoint(body["spec"].get("managementPolicies", ["Observe"]))


@given(CLUSTERS, HISTORIES)
def test_what_somebody_else_runs_is_never_installed_over(cluster: Cluster, history: list[Event]) -> None:
    foreign = {chart.name for part in cluster.runs for chart in PARTS[part].charts}
    gone = {f"shown-{part}": 2 for part in cluster.runs}
    for event in history:
        event.happen(cluster)
        # An answer that what is there is not there would be wrong, not late: no other can be told from it.
        for name, number in gone.items():
            if event.answers.get(name) == number:
                cluster.composed.get(name, {})["status"] = {}
        cluster.turn(event.silent)
        assert foreign.isdisjoint(cluster.installed)


@given(CLUSTERS, HISTORIES)
def test_a_stack_comes_to_rest_where_it_would_have_without_the_disturbance(
    cluster: Cluster, history: list[Event]
) -> None:
    for event in history:
        event.happen(cluster)
        cluster.turn(event.silent)
    cluster.kinds, cluster.spec = dict(Cluster().kinds), {}
    cluster.pods.clear()
    cluster.releases = {name: {"state": "deployed", "revision": 1, "version": "v"} for name in cluster.releases}
    result = cluster.settle()
    again = cluster.turn()
    assert result.status == again.status
    if cluster.kubernetes and cluster.starts and not cluster.runs:
        assert (result.status or {})["serves"] is True

"""What a replica remembers: that it has served, and with which engines."""

from typing import Any

import pytest

from modelplane.model.conditions import Status
from modelplane.observed.replica import read_own_replica
from modelplane.observed.stamp import stamp_digest
from modelplane.step import AWAITING, SETTLED, Result
from unit.compose_replica import replicas as given


def _status(result: Result) -> dict[str, Any]:
    assert result.status is not None
    return dict(result.status)


def test_a_replica_that_never_served_says_so() -> None:
    result = given.run(given.replica())
    assert _status(result) == {
        "served": False,
        "workloads": [],
        "endpoint": "qwen-0a1b2c3d.team.eu-1.replicas.modelplane.internal",
    }
    assert result.ready is False
    assert result.ttl == AWAITING


def test_a_serving_replica_is_accepted_ready_and_remembers_its_engines() -> None:
    body = given.replica()
    result = given.run(body, given.serving(body))
    assert [(c.type, c.status, c.reason, c.message) for c in result.conditions] == [
        ("ModelAccepted", Status.TRUE, "Accepted", ""),
        ("ModelReady", Status.TRUE, "Serving", ""),
    ]
    assert _status(result)["served"] is True
    assert _status(result)["servedEngines"] == body["spec"]["engines"]
    assert result.ttl == SETTLED


def test_served_stays_through_a_flap_and_an_empty_observation() -> None:
    body = given.replica(status={"served": True, "servedEngines": [given.engine()]})
    observed = given.serving(body)
    observed["deployment-main"]["status"]["atProvider"]["manifest"]["status"] = {}
    for found in (observed, {}):
        result = given.run(body, found)
        assert result.ready is False
        assert _status(result)["served"] is True
        assert _status(result)["servedEngines"] == [given.engine()]


def test_an_edit_counts_as_served_only_once_the_cluster_runs_it() -> None:
    before = given.replica()
    after = given.replica(given.engine(copies=3), status={"served": True, "servedEngines": [given.engine()]})
    observed = given.serving(before)

    edited = given.run(after, observed)
    assert given.condition(edited, "ModelAccepted").reason == "Deploying"
    assert _status(edited)["servedEngines"] == [given.engine()]

    observed["deployment-main"]["spec"] = edited.desired["deployment-main"].build()["spec"]
    observed["deployment-main"]["metadata"]["generation"] = 2
    stale = [{**found, "observedGeneration": 1} for found in observed["deployment-main"]["status"]["conditions"]]
    observed["deployment-main"]["status"]["conditions"] = stale
    unseen = given.run(after, observed)
    assert given.condition(unseen, "ModelAccepted").message.startswith("being applied: Deployment ")
    assert _status(unseen)["servedEngines"] == [given.engine()]

    done = given.run(after, given.serving(after))
    assert _status(done)["servedEngines"] == [given.engine(copies=3)]


def _stamp(body: dict[str, Any]) -> str:
    return stamp_digest(given.obj(body), "")


def test_one_that_begins_to_serve_while_an_edit_is_held_records_what_ran_and_not_the_edit() -> None:
    image = {"spec": {"containers": [given.container(image="bad")]}}
    before, after = given.replica(), given.replica(given.engine(members=[given.member(template=image)]))
    observed = given.serving(before)
    held = _status(given.run(after, observed, cluster=[]))
    assert (held["served"], "servedEngines" in held) == (True, False)
    assert (held["servedStamp"] == _stamp(before), held["servedStamp"] == _stamp(after)) == (True, False)
    assert not read_own_replica(given.obj({**after, "status": held})).proven
    assert read_own_replica(given.obj({**before, "status": held})).proven

    del observed["deployment-main"]["metadata"]["annotations"]
    assert _status(given.run(after, observed, cluster=[]))["servedStamp"] == "unknown"


def test_one_that_is_edited_as_it_begins_to_serve_has_not_served_with_the_edit() -> None:
    image = {"spec": {"containers": [given.container(image="bad")]}}
    after = given.replica(given.engine(members=[given.member(template=image)]))
    edited = _status(given.run(after, given.serving(given.replica())))
    assert (edited["served"], "servedStamp" in edited) == (False, False)


@pytest.mark.proves("R46")
def test_an_edit_and_its_rollback_count_as_not_ready_until_the_provider_has_acted_on_the_rollback() -> None:
    image = {"spec": {"containers": [given.container(image="bad")]}}
    before, after = given.replica(), given.replica(given.engine(members=[given.member(template=image)]))
    observed = given.serving(before)
    edit = given.run(after, observed)
    assert (given.condition(edit, "ModelReady").message, edit.ready) == (
        "engine main: 1 of 1 copies ready: not updated yet",
        False,
    )

    observed["deployment-main"]["spec"] = edit.desired["deployment-main"].build()["spec"]
    back = given.run(before, observed)
    assert not back.ready

    observed["deployment-main"]["spec"] = back.desired["deployment-main"].build()["spec"]
    observed["deployment-main"]["metadata"]["generation"] = 2
    conditions = observed["deployment-main"]["status"]["conditions"]
    observed["deployment-main"]["status"]["conditions"] = [{**found, "observedGeneration": 1} for found in conditions]
    last = {"workloads": back.status["workloads"], "complete": False} if back.status else {}
    assert not given.run({**before, "status": last}, observed).ready
    ready = {"type": "ModelReady", "status": "False", "reason": "ModelStarting"}
    earlier = {"workloads": [{"engine": "main"}], "conditions": [ready]}
    assert not given.run({**before, "status": earlier}, observed).ready
    assert given.run({**before, "status": {**earlier, "conditions": [{**ready, "status": "True"}]}}, observed).ready

    observed["deployment-main"]["metadata"]["generation"] = 1
    for acted in (last, earlier):
        assert given.run({**before, "status": acted}, observed).ready


def test_another_number_of_copies_leaves_a_replica_ready() -> None:
    assert given.run(given.replica(given.engine(copies=3)), given.serving(given.replica())).ready


def test_a_status_of_an_earlier_version_that_records_nothing_but_that_it_served_counts_for_what_is_carried() -> None:
    assert read_own_replica(given.obj(given.replica(status={"served": True}))).proven


def test_an_edit_that_its_cluster_refuses_is_held_in_the_clusters_words_until_it_is_taken() -> None:
    before, status = given.replica(), {"served": True, "servedEngines": [given.engine()]}
    after, observed = given.replica(given.engine(copies=3), status=status), given.serving(before)
    observed["deployment-main"]["spec"] = given.run(after, observed).desired["deployment-main"].build()["spec"]
    assert "held" not in _status(given.run(after, observed))
    observed["deployment-main"]["status"]["conditions"][0] = given.synced("False", "quota exceeded")
    refused = _status(given.run(after, observed))
    assert "quota exceeded" in refused["held"]
    assert "held" not in _status(given.run(before, given.serving(before)))


def test_what_cannot_be_composed_is_held_only_where_something_runs() -> None:
    body = given.replica(given.engine(members=[given.member(role="Leader")]))
    assert "an engine needs one Standalone" in _status(given.run(body, given.serving(given.replica())))["held"]
    assert "held" not in _status(given.run(body))


@pytest.mark.parametrize(("before", "reason"), [("True", "Accepted"), ("False", "Deploying")])
def test_an_unreachable_cluster_keeps_the_last_state_and_says_since_when(before: str, reason: str) -> None:
    accepted = {"type": "ModelAccepted", "status": before, "reason": "x"}
    body = given.replica(status={"conditions": [accepted]})
    observed = given.serving(body)
    for found in observed.values():
        found["status"]["conditions"][0] = given.synced("False", "cannot get object: connection refused")
    result = given.run(body, observed)
    words = f"cluster eu-1: 6 of 6 objects are not in sync since {given.SEEN_AT}: cannot get object: connection refused"
    assert result.ready is True
    assert given.condition(result, "ModelAccepted").reason == reason
    assert given.condition(result, "ModelAccepted").message.rstrip(".") == words
    assert given.condition(result, "ModelReady").status is Status.TRUE
    assert given.condition(result, "ModelReady").message == f"last known state, {words}"
    assert result.ttl == AWAITING


@pytest.mark.proves("P75")
def test_the_causes_of_a_cluster_out_of_sync_are_one_message_with_the_earliest_time() -> None:
    observed = given.serving(given.replica())
    for number, (resource, found) in enumerate(sorted(observed.items())):
        failed = given.synced("False", f"cannot get {resource}: connection refused")
        found["status"]["conditions"][0] = {**failed, "lastTransitionTime": f"2026-01-02T03:04:0{9 - number}Z"}
    message = given.condition(given.run(given.replica(), observed), "ModelReady").message
    name = observed["deployment-main"]["spec"]["forProvider"]["manifest"]["metadata"]["name"]
    assert message == (
        "last known state, cluster eu-1: 6 of 6 objects are not in sync since 2026-01-02T03:04:04Z: "
        f"Deployment {name}: cannot get deployment-main: connection refused"
    )


def test_an_object_the_cluster_never_took_is_reported_with_the_providers_words() -> None:
    body = given.replica()
    observed = given.serving(body)
    refused = given.synced("False", "cannot create object: forbidden")
    observed["httproute"]["status"] = {"conditions": [refused]}
    message = given.condition(given.run(body, observed), "ModelAccepted").message
    assert message == (
        f"cluster eu-1: HTTPRoute qwen-0a1b2c3d is not in sync since {given.SEEN_AT}: cannot create object: forbidden"
    )


@pytest.mark.proves("R24", "R126")
@pytest.mark.parametrize("labels", [None, {}, {"modelplane.ai/cluster": "other"}])
def test_a_hand_written_replica_without_its_clusters_label_composes_nothing_until_it_is_labelled(labels: Any) -> None:
    body = given.replica(metadata={"name": "by-hand", "namespace": "team", "labels": labels})
    result = given.run(body)
    line = 'Add the line modelplane.ai/cluster: "eu-1" to metadata.labels of this ModelReplica'
    words = f"{line}: without the label it composes nothing."
    assert (dict(result.desired), given.condition(result, "ModelAccepted").message) == ({}, words)
    body["metadata"]["labels"] = {"modelplane.ai/cluster": "eu-1"}
    assert "deployment-main" in given.run(body).desired


@pytest.mark.parametrize("labels", [None, {}, {"modelplane.ai/cluster": "other"}])
def test_a_hand_written_replica_that_serves_without_its_label_is_kept_and_shown_the_label(labels: Any) -> None:
    body = given.replica(metadata={"name": "by-hand", "namespace": "team", "labels": labels})
    labelled = {"name": "by-hand", "namespace": "team", "labels": {"modelplane.ai/cluster": "eu-1"}}
    result = given.run(body, given.serving(given.replica(metadata=labelled)))
    accepted = given.condition(result, "ModelAccepted")
    assert result.ready is True
    assert (accepted.status, accepted.reason) == (Status.TRUE, "Accepted")
    line = 'Add the line modelplane.ai/cluster: "eu-1" to metadata.labels of this ModelReplica'
    assert f"{line}: without the label" in accepted.message


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("read tcp 10.0.0.5:{}->34.1.1.1:443: read: connection reset by peer", "read tcp 34.1.1.1:443: read:"),
        ("write tcp [fd00::5]:{}->[fd00::1]:6443: broken pipe", "write tcp [fd00::1]:6443: broken pipe"),
        ("lookup eu on 10.96.0.10:53: read udp 10.2.0.9:{}->10.96.0.10:53: i/o timeout", "53: read udp 10.96.0.10:53:"),
    ],
)
def test_a_cluster_that_does_not_answer_says_the_same_on_every_try(words: str, shown: str) -> None:
    reported = []
    for port in (41234, 50001):
        observed = given.serving(given.replica())
        for found in observed.values():
            found["status"]["conditions"][0] = given.synced("False", words.format(port))
        result = given.run(given.replica(), observed)
        reported.append((result.conditions, result.status))
    assert reported[0] == reported[1]
    assert shown in repr(reported[0])


def on_made(uid: str, source: str = "GKE") -> dict[str, Any]:
    """Return the replica's cluster, which Modelplane makes, with the uid that it publishes."""
    found = given.cluster()
    spec = {**found.get("spec", {}), "cluster": {"source": source}}
    return {**found, "spec": spec, "status": {**found["status"], "clusterUID": uid}}


def test_a_replica_of_a_cluster_that_was_made_anew_has_never_served_until_it_does_there() -> None:
    body = given.replica()
    first = given.run(body, given.serving(body), cluster=[on_made("first")])
    assert (_status(first)["served"], _status(first)["servedOn"]) == (True, "first")

    served = given.replica(status=_status(first))
    anew = given.run(served, given.serving(served), cluster=[on_made("second")])
    assert _status(anew)["served"] is False, "what is observed may be of the cluster that is gone"
    assert not {"servedOn", "servedEngines", "servedStamp"} & _status(anew).keys()
    assert read_own_replica(given.obj(given.replica(status=_status(anew)))).has_served is False

    again = given.replica(status=_status(anew))
    later = given.run(again, given.serving(again), cluster=[on_made("second")])
    assert (_status(later)["served"], _status(later)["servedOn"]) == (True, "second")


@pytest.mark.parametrize(("before", "now"), [("first", "first"), ("first", ""), ("", "second")])
def test_a_replica_that_has_served_has_while_no_other_cluster_is_known(before: str, now: str) -> None:
    status = {"served": True, "servedEngines": [given.engine()], **({"servedOn": before} if before else {})}
    body = given.replica(status=status)
    result = given.run(body, {}, cluster=[on_made(now)])
    assert _status(result)["served"] is True
    assert _status(result)["servedEngines"] == [given.engine()]


def test_of_a_cluster_that_is_brought_no_uid_is_recorded() -> None:
    body = given.replica()
    result = given.run(body, given.serving(body), cluster=[on_made("first", "Existing")])
    assert "servedOn" not in _status(result)

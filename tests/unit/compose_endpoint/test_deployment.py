"""ModelEndpoints of a deployment: made with the first address, alive as long as the replica, ready as it is."""

from dataclasses import replace
from typing import Any

import pytest

from modelplane.compose_endpoint.deployment import compose
from modelplane.composing.placement_message import PlacementMessage, write_placements
from modelplane.model.placement import Stamp
from modelplane.step import Object, Request

DEPLOYMENT = Object(
    {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "ModelDeployment",
        "metadata": {"name": "qwen", "namespace": "ml", "uid": "u"},
        "spec": {"replicaLabels": {"team": "search"}},
    },
    "v1",
)


def placed(address: str | None) -> PlacementMessage:
    return PlacementMessage(
        name="qwen-1234abcd",
        resource="replica-a-0",
        endpoint="endpoint-a-0",
        cluster="a",
        index=0,
        stamp=Stamp.APPLY,
        address=address,
    )


OWNER = {"apiVersion": "modelplane.ai/v1alpha1", "kind": "ModelDeployment", "name": "qwen", "uid": "u"}


def observed(kind: str, **parts: Any) -> Object:
    metadata = {"name": "qwen-1234abcd", "ownerReferences": [{**OWNER, "controller": True}]}
    body = {"kind": kind, "metadata": metadata, **parts}
    return Object(body, repr(body))


def endpoints(address: str | None, **seen: Object) -> dict[str, Any]:
    names = {"replica": "replica-a-0", "endpoint": "endpoint-a-0"}
    request = Request(
        DEPLOYMENT,
        observed={names[kind]: obj for kind, obj in seen.items()},
        context=write_placements([placed(address)]),
    )
    result = compose(request)
    assert result.fatal is None
    return {name: desired.build() for name, desired in result.desired.items()}


def replica(status: str | None) -> Object:
    conditions = [] if status is None else [{"type": "Ready", "status": status}]
    return observed("ModelReplica", status={"conditions": conditions})


def test_an_endpoint_is_the_cluster_address_with_the_replicas_own_host() -> None:
    assert endpoints("gw.example.org") == {
        "endpoint-a-0": {
            "apiVersion": "modelplane.ai/v1alpha1",
            "kind": "ModelEndpoint",
            "metadata": {
                "name": "qwen-1234abcd",
                "namespace": "ml",
                "labels": {
                    "team": "search",
                    "modelplane.ai/deployment": "qwen",
                    "modelplane.ai/cluster": "a",
                    "modelplane.ai/replica-index": "0",
                },
            },
            "spec": {
                "url": "https://gw.example.org",
                "host": "qwen-1234abcd.ml.a.replicas.modelplane.internal",
                "ready": False,
            },
        }
    }


class Unread(Object):
    """An object that a step must not look into: that alone costs as much as all else that is done with it."""

    @property
    def body(self) -> Any:
        """Fail."""
        raise AssertionError("was looked into")


def test_an_endpoint_is_not_looked_into_while_its_cluster_and_replica_tell_all() -> None:
    unread = Unread.__new__(Unread)
    spec = endpoints("gw.example.org", replica=replica("True"), endpoint=unread)["endpoint-a-0"]["spec"]
    assert (spec["url"], spec["ready"]) == ("https://gw.example.org", True)


@pytest.mark.parametrize("owners", [[], [OWNER]])
def test_an_endpoint_that_no_deployment_controls_does_not_say_where_its_replica_is(owners: list[Any]) -> None:
    spec = {"url": "http://vault.secrets.svc.cluster.local:8200", "mutualTLS": True, "ready": True}
    forged = observed("ModelEndpoint", metadata={"name": "qwen-1234abcd", "ownerReferences": owners}, spec=spec)
    assert endpoints(None, endpoint=forged, replica=replica("True")) == {}
    made = endpoints("gw.example.org", endpoint=forged, replica=replica("True"))["endpoint-a-0"]["spec"]
    assert (made["url"], "mutualTLS" in made) == ("https://gw.example.org", False)


def test_an_ipv6_address_is_bracketed() -> None:
    assert endpoints("2001:db8::1")["endpoint-a-0"]["spec"]["url"] == "https://[2001:db8::1]"


def test_no_endpoint_is_made_before_the_cluster_has_an_address() -> None:
    assert endpoints(None, replica=replica("True")) == {}


def test_an_endpoint_outlives_the_address_of_its_cluster() -> None:
    was = observed("ModelEndpoint", spec={"url": "https://gw.example.org", "ready": True})
    assert (
        endpoints(None, endpoint=was, replica=replica("True"))["endpoint-a-0"]["spec"]["url"]
        == "https://gw.example.org"
    )


@pytest.mark.parametrize(
    ("status", "was", "ready"),
    [
        ("True", False, True),
        ("False", True, False),
        ("Unknown", True, True),
        ("Unknown", False, False),
        (None, True, True),
        (None, None, False),
    ],
)
def test_ready_follows_the_replica_and_an_unknown_keeps_the_last_word(
    status: str | None, was: bool | None, ready: bool
) -> None:
    seen = {"replica": replica(status)}
    if was is not None:
        seen["endpoint"] = observed("ModelEndpoint", spec={"url": "https://x", "ready": was})
    assert endpoints("x", **seen)["endpoint-a-0"]["spec"]["ready"] is ready


def test_an_endpoint_has_the_name_under_which_its_replica_serves_and_keeps_it_while_that_is_not_known() -> None:
    container = {"name": "engine", "args": ["--served-model-name=example/model"]}
    engines = [{"members": [{"role": "Standalone", "template": {"spec": {"containers": [container]}}}]}]
    named, unnamed = (observed("ModelReplica", spec={"engines": found}) for found in (engines, []))
    assert endpoints("x", replica=named)["endpoint-a-0"]["spec"]["model"] == "example/model"
    was = observed("ModelEndpoint", spec={"url": "https://x", "ready": True, "model": "last"})
    assert endpoints("x", endpoint=was)["endpoint-a-0"]["spec"]["model"] == "last"
    assert endpoints("x", replica=named, endpoint=was)["endpoint-a-0"]["spec"]["model"] == "example/model"
    assert "model" not in endpoints("x", replica=unnamed, endpoint=was)["endpoint-a-0"]["spec"]


def test_without_a_schedule_nothing_is_decided() -> None:
    assert compose(Request(DEPLOYMENT)).fatal is not None


@pytest.mark.parametrize("spec", [None, {}, {"url": 7, "ready": True}, "x"], ids=repr)
def test_an_endpoint_that_cannot_be_read_stays_as_it_is_while_its_cluster_has_no_address(spec: object) -> None:
    was = Object(
        {
            "apiVersion": "modelplane.ai/v1alpha1",
            "kind": "ModelEndpoint",
            "metadata": {
                "name": "qwen-1234abcd",
                "namespace": "ml",
                "labels": {"a": "b"},
                "uid": "e",
                "ownerReferences": [{**OWNER, "controller": True}],
            },
            "spec": spec,
        },
        repr(spec),
    )
    assert endpoints(None, endpoint=was)["endpoint-a-0"] == {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "ModelEndpoint",
        "metadata": {"name": "qwen-1234abcd", "namespace": "ml", "labels": {"a": "b"}},
        "spec": spec,
    }


@pytest.mark.parametrize(
    ("address", "last", "expected"), [("gw", False, True), (None, True, True), (None, False, False)]
)
def test_an_endpoint_says_mutual_tls_as_its_cluster_does_and_as_it_did_while_that_is_not_known(
    address: str | None, last: bool, expected: bool
) -> None:
    was = observed("ModelEndpoint", spec={"url": "https://gw", "ready": True} | ({"mutualTLS": True} if last else {}))
    message = write_placements([replace(placed(address), mutual_tls=True)])
    result = compose(Request(DEPLOYMENT, observed={"endpoint-a-0": was}, context=message))
    assert result.desired["endpoint-a-0"].build()["spec"].get("mutualTLS", False) is expected


COPIES: dict[str, tuple[dict[str, Any], str | None]] = {
    "an earlier version recorded Ready alone": ({}, None),
    "all": ({"complete": True, "workloads": [{"ready": 4, "desired": 4}]}, None),
    "one is missing": ({"complete": False, "workloads": [{"ready": 3, "desired": 4}]}, "Most"),
    "half": ({"complete": False, "workloads": [{"ready": 2, "desired": 4}]}, "Most"),
    "fewer than half": ({"complete": False, "workloads": [{"ready": 1, "desired": 4}]}, "Few"),
    "fewer than half of one engine": (
        {"complete": False, "workloads": [{"ready": 4, "desired": 4}, {"ready": 1, "desired": 3}]},
        "Few",
    ),
}


@pytest.mark.parametrize(("status", "copies"), COPIES.values(), ids=COPIES)
def test_an_endpoint_says_how_many_copies_of_its_replica_serve(status: dict[str, Any], copies: str | None) -> None:
    conditions = [{"type": "Ready", "status": "True"}, {"type": "ModelReady", "status": "True"}]
    serving = observed("ModelReplica", status={**status, "conditions": conditions})
    spec = endpoints("gw.example.org", replica=serving)["endpoint-a-0"]["spec"]
    assert (spec["ready"], spec.get("copies")) == (True, copies)


def test_how_many_copies_serve_is_kept_while_it_is_not_known() -> None:
    owned = observed("ModelEndpoint", spec={"url": "https://gw.example.org", "ready": True, "copies": "Few"})
    spec = endpoints("gw.example.org", endpoint=owned)["endpoint-a-0"]["spec"]
    assert (spec["ready"], spec["copies"]) == (True, "Few")

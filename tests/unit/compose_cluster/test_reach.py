"""How an Existing cluster is reached, and what it says while it is not."""

from typing import Any

import pytest

from modelplane.model.conditions import Status
from modelplane.step import AWAITING, SETTLED
from unit.compose_cluster import clusters as given

#: The digest of no residents: SHA-256 of nothing.
NOBODY = "e3b0c44298fc1c14"


def test_the_kubeconfig_becomes_a_provider_config() -> None:
    assert given.config() == {
        "apiVersion": "kubernetes.m.crossplane.io/v1alpha1",
        "kind": "ClusterProviderConfig",
        "metadata": {"name": "eu-1"},
        "spec": {
            "credentials": {
                "source": "Secret",
                "secretRef": {"namespace": "modelplane-system", "name": "eu-1", "key": "kubeconfig"},
            }
        },
    }


def test_an_identity_is_laid_over_the_kubeconfig() -> None:
    body = given.cluster()
    body["spec"]["cluster"]["existing"]["identitySecretRef"] = {
        "name": "sa",
        "key": "k",
        "type": "GoogleApplicationCredentials",
    }
    assert given.bodies(given.run(body))["provider-config"]["spec"]["identity"] == {
        "type": "GoogleApplicationCredentials",
        "source": "Secret",
        "secretRef": {"namespace": "modelplane-system", "name": "sa", "key": "k"},
    }


def test_the_provider_config_is_published_once_it_exists_and_then_always() -> None:
    published = {"name": "eu-1"}
    assert "providerConfigRef" not in given.status(given.run(given.cluster()))
    seen = given.run(given.cluster(), {"provider-config": given.config()})
    assert given.status(seen)["providerConfigRef"] == published
    lost = given.run(given.cluster(status={"providerConfigRef": published}))
    assert given.status(lost)["providerConfigRef"] == published


def test_what_looks_at_the_cluster_comes_after_the_config_and_never_touches_it() -> None:
    assert given.bodies(given.run(given.cluster())).keys() == {"provider-config", "class-in-use-l4"}
    bodies = given.bodies(given.run(given.cluster(), {"provider-config": given.config()}))
    assert {
        name: body["spec"]["forProvider"]["manifest"] for name, body in bodies.items() if body["kind"] == "Object"
    } == {
        "kube-system": {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system"}},
        "gateway": {
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "Gateway",
            "metadata": {"name": "inference-gateway", "namespace": "modelplane-system"},
        },
    }
    for name in ("kube-system", "gateway"):
        assert bodies[name]["metadata"]["namespace"] == "modelplane-system"
        assert bodies[name]["spec"]["managementPolicies"] == ["Observe"]
        assert bodies[name]["spec"]["providerConfigRef"] == {"kind": "ClusterProviderConfig", "name": "eu-1"}


REFUSED = given.looking("Namespace", None, "dial tcp: connection refused")
LOST = given.looking("Namespace", {}, "dial tcp: connection refused")
CONNECTIONS: dict[str, tuple[dict[str, Any], str, str]] = {
    "not looked yet": ({}, "Provisioning", "the cluster has not answered yet"),
    "no answer yet": (
        given.looking("Namespace", None) | {"status": {}},
        "Provisioning",
        "the cluster has not answered yet",
    ),
    "never reached": (REFUSED, "Unreachable", "connection refused"),
    "reached before": (LOST, "Unreachable", f"since {given.SEEN_AT}: dial tcp: connection refused"),
}


REACH = "Restore the connection, or correct key kubeconfig of Secret modelplane-system/eu-1, its kubeconfig."


@pytest.mark.parametrize(("probe", "reason", "words"), CONNECTIONS.values(), ids=CONNECTIONS)
def test_a_cluster_that_does_not_answer_says_so_and_loses_nothing(probe: Any, reason: str, words: str) -> None:
    published = {
        "providerConfigRef": {"name": "eu-1"},
        "gateway": {"address": "gw.example.org", "hostname": "gw.example.org"},
        "gpuPools": [{"name": "l4", "nodes": 2, "devices": [given.L4]}],
    }
    observed = given.reached()
    del observed["kube-system"]
    if probe:
        observed["kube-system"] = probe
    result = given.run(given.cluster(status=published), observed)
    ready, backend = given.condition(result, "ClusterReady"), given.condition(result, "BackendReady")
    assert (ready.status, ready.reason) == (Status.FALSE, reason)
    assert words in ready.message
    assert ready.message.endswith(REACH) is (reason == "Unreachable")
    assert (backend.status, backend.reason) == (Status.FALSE, "WaitingForCluster")
    assert REACH not in backend.message
    assert result.ready is False
    assert result.ttl == AWAITING
    status = given.status(result)
    assert status["providerConfigRef"] == published["providerConfigRef"]
    assert status["gateway"] == published["gateway"]
    assert [(entry["name"], entry["devices"]) for entry in status["gpuPools"]] == [("l4", [given.L4])]
    assert {"provider-config", "kube-system", "gateway"} <= result.desired.keys()


def test_a_cluster_that_answers_with_a_gateway_address_is_ready() -> None:
    result = given.run(given.cluster(), given.reached())
    assert [(c.type, c.status, c.reason, c.message) for c in result.conditions] == [
        ("ClusterReady", Status.TRUE, "ClusterRunning", ""),
        ("BackendReady", Status.TRUE, "BackendHealthy", ""),
    ]
    assert result.ready is True
    assert result.ttl == SETTLED
    assert given.status(result) == {
        "namespace": "modelplane-system",
        "providerConfigRef": {"name": "eu-1"},
        "gateway": {"address": "gw.example.org", "hostname": "gw.example.org"},
        "gpuPools": [{"name": "l4", "nodes": 2, "devices": [given.L4], "devicesCommitted": {"gpu": 0}, "charged": ""}],
        "replicas": 0,
        "charges": {"residents": NOBODY, "published": True},
    }


def test_the_storage_class_for_caches_is_published() -> None:
    body = given.cluster()
    body["spec"]["cluster"]["existing"]["cache"] = {"storageClassName": "rwx"}
    assert given.status(given.run(body))["cache"] == {"storageClassName": "rwx"}


def test_the_user_that_downloads_onto_the_volumes_is_published_with_their_class() -> None:
    body = given.cluster()
    body["spec"]["cluster"]["existing"]["cache"] = {"storageClassName": "rwx", "runAsUser": 1000}
    assert given.status(given.run(body))["cache"] == {"storageClassName": "rwx", "runAsUser": 1000}


READY: dict[str, tuple[dict[str, Any], Any, tuple[Status, Status]]] = {
    "both": ({}, [given.device_class()], (Status.TRUE, Status.TRUE)),
    "no class": ({}, [], (Status.FALSE, Status.TRUE)),
    "no gateway address": ({"gateway": given.gateway()}, [given.device_class()], (Status.TRUE, Status.FALSE)),
    "neither": ({"kube-system": REFUSED}, [given.device_class()], (Status.FALSE, Status.FALSE)),
}


@pytest.mark.parametrize(("observed", "classes", "statuses"), READY.values(), ids=READY)
def test_a_cluster_is_ready_only_if_cluster_ready_and_backend_ready_are(
    observed: dict[str, Any], classes: Any, statuses: tuple[Status, Status]
) -> None:
    result = given.run(given.cluster(), given.reached(**observed), class_l4=classes)
    assert tuple(given.condition(result, kind).status for kind in ("ClusterReady", "BackendReady")) == statuses
    assert result.ready is (statuses == (Status.TRUE, Status.TRUE))

"""The Gateway of an inference cluster: whose it is, in which order Modelplane makes its own, how that is reached."""

from typing import Any

import pytest

from modelplane.compose_cluster.gateway import PART
from modelplane.compose_cluster.gateway_kinds import APIS
from modelplane.model.names import LABEL_GATEWAY
from modelplane.step import Result
from unit.compose_cluster import clusters as given

BUNDLE = "-----BEGIN CERTIFICATE-----\nY2E=\n-----END CERTIFICATE-----\n"
TRUSTED = [{"kind": "InferenceGateway", "metadata": {"name": "default"}, "status": {"caBundle": BUNDLE}}]
KEYED = {"requireKeys": True}
ABSENT = given.looking("Gateway", None, "observe failed: external resource does not exist")
READY = [{"type": kind, "status": "True"} for kind in ("Ready", "Synced")]
#: What has no condition on a cluster, or nothing that has to be waited for.
LAST = {PART + "unknown-hosts", "gateway"}


def run(observed: dict[str, Any], gateway: Any = TRUSTED, **fields: Any) -> Result:
    return given.run(given.cluster(**fields), observed, gateway=gateway)


def empty(**observed: Any) -> dict[str, Any]:
    """Return what is observed of a cluster that has the kinds of a Gateway, and none; `observed` besides."""
    served = {name: given.looking("APIService", {"metadata": {"name": name}}) for name in APIS}
    return given.reached(**{**served, **observed})


def parts(result: Result) -> dict[str, Any]:
    return {name: body for name, body in given.bodies(result).items() if name.startswith(PART)}


def applied(composed: dict[str, Any]) -> dict[str, Any]:
    """Return composed parts as they are observed once all are on the cluster."""
    return {name: {**body, "status": {"conditions": READY}} for name, body in composed.items()}


def ours(*addresses: str, listening: bool = True) -> dict[str, Any]:
    found = given.gateway(*addresses)
    manifest = found["status"]["atProvider"]["manifest"]
    manifest["metadata"] = {"labels": {LABEL_GATEWAY: "true"}}
    programmed = {"type": "Programmed", "status": "True" if listening else "False"}
    manifest["status"]["listeners"] = [{"name": "https", "conditions": [programmed]}]
    return found


def made(gateway: dict[str, Any]) -> dict[str, Any]:
    """Return what is observed of a cluster on which all parts are, and a Gateway of ours."""
    return given.reached(gateway=gateway, **applied(parts(run(empty(gateway=ABSENT)))))


def policies(result: Result) -> Any:
    return given.bodies(result)["gateway"]["spec"].get("managementPolicies")


@pytest.mark.parametrize(
    ("spec", "buffer", "window"),
    [({}, "1088Ki", "1088Ki"), ({"requireKeys": False}, "1088Ki", "1088Ki"), (KEYED, "50Mi", "16Mi")],
)
def test_a_gateway_holds_little_of_a_request_unless_every_caller_has_a_key(
    spec: dict[str, Any], buffer: str, window: str
) -> None:
    policy = parts(run(empty(gateway=ABSENT), [{**TRUSTED[0], "spec": spec}]))[f"{PART}client-traffic-policy"]
    callers = policy["spec"]["forProvider"]["manifest"]["spec"]
    assert callers["connection"]["bufferLimit"] == buffer
    assert callers["http2"]["initialStreamWindowSize"] == window


def test_a_gateway_of_somebody_else_is_only_observed_and_nothing_is_put_beside_it() -> None:
    result = run(given.reached())
    assert (parts(result), policies(result)) == ({}, ["Observe"])
    assert given.status(result)["gateway"] == {"address": "gw.example.org", "hostname": "gw.example.org"}
    backend = given.condition(result, "BackendReady")
    assert backend.status == "True"
    assert backend.message.startswith("Requests to the cluster are not encrypted")


#: A Gateway that may be there, and the InferenceGateway.
UNKNOWN: dict[str, tuple[Any, Any]] = {
    "not observed yet": (given.looking("Gateway", None), TRUSTED),
    "no CA yet": (ABSENT, [{"kind": "InferenceGateway", "metadata": {"name": "default"}}]),
    "no InferenceGateway": (ABSENT, []),
    "the InferenceGateway is not fetched": (ABSENT, None),
}


@pytest.mark.parametrize(("gateway", "trusted"), UNKNOWN.values(), ids=UNKNOWN)
def test_nothing_is_made_before_it_is_known_that_there_is_no_gateway_and_who_may_call(
    gateway: Any, trusted: Any
) -> None:
    result = run(empty(gateway=gateway), trusted)
    assert (parts(result), policies(result)) == ({}, ["Observe"])
    assert given.condition(result, "BackendReady").status == "False"


NO_SUCH = "observe failed: external resource does not exist"
#: Of an empty cluster: what its two APIServices show, each of the group's own, and what BackendReady says.
KINDS: dict[str, tuple[Any, Any, str]] = {
    "neither is installed": (
        (None, NO_SUCH),
        (None, NO_SUCH),
        "the cluster has no kinds of gateway.networking.k8s.io/v1 and gateway.envoyproxy.io/v1alpha1. "
        "Install Envoy Gateway and its CRDs there.",
    ),
    "Gateway API alone is installed": (
        ({"metadata": {}}, ""),
        (None, NO_SUCH),
        "the cluster has no kinds of gateway.envoyproxy.io/v1alpha1. Install Envoy Gateway and its CRDs there.",
    ),
    "the kubeconfig may not look": (
        ({"metadata": {}}, ""),
        (None, "apiservices is forbidden"),
        f"APIService is not in sync since {given.SEEN_AT}: apiservices is forbidden",
    ),
}


@pytest.mark.parametrize(("served", "envoy", "message"), KINDS.values(), ids=KINDS)
def test_nothing_is_made_on_a_cluster_without_the_kinds_and_the_way_to_them_is_named(
    served: Any, envoy: Any, message: str
) -> None:
    seen = {name: given.looking("APIService", *found) for name, found in zip(APIS, (served, envoy), strict=True)}
    lacking = served[0] is None
    gateway = given.looking("Gateway", None, "no matches for kind Gateway") if lacking else ABSENT
    result = run(given.reached(gateway=gateway, **seen))
    assert (parts(result), policies(result)) == ({}, ["Observe"])
    assert given.condition(result, "BackendReady").message == message


def test_the_kinds_are_observed_until_there_is_something_of_a_gateway() -> None:
    assert run(given.reached(gateway=ABSENT)).desired.keys() >= APIS.keys()
    for observed in (given.reached(), made(ABSENT), made(ours("gw.example.org"))):
        assert not run(observed).desired.keys() & APIS.keys()
    for name, body in given.bodies(run(given.reached(gateway=ABSENT))).items():
        if name in APIS:
            assert body["spec"]["managementPolicies"] == ["Observe"]
            assert body["spec"]["forProvider"]["manifest"]["kind"] == "APIService"


@pytest.mark.proves("P142")
def test_the_gateway_is_created_once_its_policies_exist_and_never_over_another_one() -> None:
    first = run(empty(gateway=ABSENT))
    assert policies(first) == ["Observe"]
    assert PART + "unknown-hosts" not in first.desired
    for missing in parts(first):
        observed = applied(parts(first))
        observed[missing]["status"] = {"conditions": [READY[0] | {"status": "False"}]}
        assert policies(run(empty(gateway=ABSENT, **observed))) == ["Observe"], missing
    complete = run(empty(gateway=ABSENT, **applied(parts(first))))
    assert policies(complete) == ["Observe", "Create"]
    assert policies(run(made(ours("gw.example.org")))) is None


def test_only_the_public_gateway_may_call_and_on_nothing_but_https() -> None:
    found = {
        name: body["spec"]["forProvider"]["manifest"]
        for name, body in parts(run(made(ours()))).items()
        if body["kind"] == "Object"
    }
    gateway = given.bodies(run(made(ours())))["gateway"]["spec"]["forProvider"]["manifest"]
    (listener,) = gateway["spec"]["listeners"]
    assert (listener["protocol"], listener["port"]) == ("HTTPS", 443)
    (expression,) = listener["allowedRoutes"]["namespaces"]["selector"]["matchExpressions"]
    assert expression == {"key": "modelplane.ai/namespace", "operator": "Exists"}
    assert found[PART + "namespace"]["metadata"]["labels"] == {
        "modelplane.ai/namespace": "modelplane-system",
        "modelplane.ai/reaches-engines": "true",
    }
    validation = found[PART + "client-traffic-policy"]["spec"]["tls"]["clientValidation"]
    (authority,) = validation["caCertificateRefs"]
    assert found[PART + "authority"]["metadata"]["name"] == authority["name"]
    assert found[PART + "authority"]["data"] == {"ca.crt": BUNDLE}
    assert validation["subjectAltNames"]["dnsNames"] == [
        {"type": "Exact", "value": "public-gateway.modelplane.internal"}
    ]
    assert found[PART + "envoy-proxy"]["spec"]["shutdown"] == {"drainTimeout": "3600s"}
    answer = found[PART + "answer-503"]["spec"]["directResponse"]
    assert answer["statusCode"] == 503
    assert "data" not in found[PART + "pair"], "the provider copies it"


def test_the_certificate_of_each_cluster_has_one_name_and_a_pair_of_its_own() -> None:
    certificate = parts(run(empty(gateway=ABSENT)))[PART + "certificate"]
    assert certificate["spec"]["dnsNames"] == ["inference-gateway.modelplane.internal"]
    assert certificate["spec"]["usages"] == ["digital signature", "server auth"]
    assert certificate["spec"]["secretName"].startswith("eu-1-")


LISTENING: dict[str, tuple[dict[str, Any], Any, Any]] = {
    "it serves": (ours("gw.example.org"), None, True),
    "it does not yet": (ours("gw.example.org", listening=False), None, None),
    "it did": (ours("gw.example.org", listening=False), True, True),
}


@pytest.mark.parametrize(("gateway", "last", "published"), LISTENING.values(), ids=LISTENING)
def test_our_gateway_is_published_as_mutual_tls_once_its_listener_serves(
    gateway: dict[str, Any], last: Any, published: Any
) -> None:
    named = {"address": "gw.example.org", "hostname": "gw.example.org"}
    status = {"status": {"gateway": {**named, "mutualTLS": True}}} if last else {}
    found = given.status(run(made(gateway), **status)).get("gateway")
    assert found == ({**named, "mutualTLS": True} if published else None)


def test_an_ip_address_keeps_mutual_tls_with_its_dns_name() -> None:
    observed = made(ours("203.0.113.7"))
    first = run(observed)
    assert given.status(first)["gateway"] == {"address": "203.0.113.7", "mutualTLS": True}
    named = {name: body for name, body in given.bodies(first).items() if name.startswith(("gateway-s", "gateway-e"))}
    assert given.status(run({**observed, **named}))["gateway"]["mutualTLS"] is True


def test_what_was_made_stays_while_the_ca_is_not_known() -> None:
    observed = made(ours("gw.example.org"))
    result = run(observed, [])
    assert parts(result).keys() == parts(run(observed)).keys() - {PART + "unknown-hosts"}
    assert given.status(result)["gateway"]["mutualTLS"] is True


def test_of_an_abandoned_cluster_everything_of_the_gateway_stays_there() -> None:
    metadata = {"name": "eu-1", "annotations": {"modelplane.ai/abandon": "true"}}
    result = run(made(ours("gw.example.org")), metadata=metadata)
    found = {name: body for name, body in given.bodies(result).items() if body["kind"] == "Object"}
    del found["kube-system"]
    kept = {name: body["spec"].get("managementPolicies") for name, body in found.items()}
    assert {tuple(each) for each in kept.values()} == {("Observe", "Create", "Update")}, kept


def test_a_part_that_is_not_there_is_named() -> None:
    observed = applied(parts(run(empty(gateway=ABSENT))))
    failed = {"type": "Synced", "status": "False", "message": "no matches for kind EnvoyProxy"}
    observed[PART + "envoy-proxy"]["status"] = {"conditions": [failed]}
    backend = given.condition(run(empty(gateway=ABSENT, **observed)), "BackendReady")
    assert backend.status == "False"
    assert "EnvoyProxy inference-gateway" in backend.message
    assert "no matches for kind EnvoyProxy" in backend.message

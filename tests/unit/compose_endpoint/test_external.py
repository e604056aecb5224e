"""An external provider: what leads to it from the router, and what is refused."""

import re
from typing import Any

import pytest

from property.externals import ROUTER, External

CREDENTIAL: dict[str, Any] = {"credential": {"secretRef": {"name": "groq", "key": "token"}, "header": "Authorization"}}
SECRETS = {"groq": {"token": b"sk-1"}}


def condition(external: External) -> tuple[str, str, str]:
    (found,) = external.reconcile().conditions
    return found.status.value, str(found.reason), found.message


def settled(**fields: Any) -> External:
    external = External(**fields)
    external.settle()
    return external


def spec(url: str = "https://api.example.com/openai/v1", /, **fields: Any) -> dict[str, Any]:
    return {"url": url, **fields}


def rule(external: External) -> dict[str, Any]:
    found: dict[str, Any] = external.store["route"]["spec"]["rules"][0]
    return found


def test_a_provider_is_reached_over_the_router_by_a_host_of_its_own() -> None:
    external = settled()
    route = external.store["route"]["spec"]
    assert route["hostnames"] == ["groq.ml.endpoints.modelplane.internal"]
    (parent,) = route["parentRefs"]
    assert (parent["name"], parent["sectionName"]) == ("provider-router", "https")
    assert condition(external)[:2] == ("False", "WaitingForGateway")
    external.accept()
    assert condition(external) == ("True", "BackendConfigured", "")
    assert external.reconcile().status == {
        "routing": {
            "hostname": "groq.ml.endpoints.modelplane.internal",
            "fqdn": ROUTER,
            "port": 443,
            "ready": True,
            "mutualTLS": True,
        }
    }


def test_a_provider_that_may_take_no_traffic_is_not_ready() -> None:
    external = settled(spec=spec(ready=False))
    external.accept()
    status = external.reconcile().status
    assert status is not None
    assert status["routing"]["ready"] is False


#: The URL and rewritePath of an endpoint, and the path that stands for /v1, the address and port that are dialled.
ROOTS: dict[str, tuple[dict[str, Any], str, tuple[str, int]]] = {
    "a path": (spec(), "/openai/v1", ("api.example.com", 443)),
    "a path with a slash": (spec("https://api.example.com/api/"), "/api", ("api.example.com", 443)),
    "no path": (spec("https://api.example.com"), "/v1", ("api.example.com", 443)),
    "a path that is none": (spec("https://api.example.com/"), "/v1", ("api.example.com", 443)),
    "an older prefix": (spec("http://api.example.com:8000", rewritePath="/p/"), "/p/v1", ("api.example.com", 8000)),
}


@pytest.mark.parametrize(("given", "root", "dialled"), ROOTS.values(), ids=ROOTS)
def test_the_root_of_a_provider_stands_for_v1(given: dict[str, Any], root: str, dialled: tuple[str, int]) -> None:
    external = settled(spec=given)
    (rewrite, *_) = rule(external)["filters"]
    assert rewrite["urlRewrite"]["path"] == {"type": "ReplacePrefixMatch", "replacePrefixMatch": root}
    assert rewrite["urlRewrite"]["hostname"] == "api.example.com"
    (endpoint,) = external.store["backend"]["spec"]["endpoints"]
    assert (endpoint["fqdn"]["hostname"], endpoint["fqdn"]["port"]) == dialled
    assert rule(external)["timeouts"] == {"request": "0s"}


def test_a_provider_with_tls_is_verified_always() -> None:
    assert settled().store["backend"]["spec"]["tls"] == {
        "sni": "api.example.com",
        "wellKnownCACertificates": "System",
    }
    own = {"caSecretRef": {"name": "ca", "key": "pem"}, "serverName": "other.example.com"}
    external = settled(spec=spec(tls=own), secrets={"ca": {"pem": b"certificate"}})
    secret = external.store["authority"]
    assert external.store["backend"]["spec"]["tls"] == {
        "sni": "other.example.com",
        "caCertificateRefs": [{"group": "", "kind": "Secret", "name": secret["metadata"]["name"]}],
    }
    assert secret["data"].keys() == {"ca.crt"}
    assert "tls" not in settled(spec=spec("http://api.example.com")).store["backend"]["spec"]


#: The header of a credential and its prefix; the key headers that are removed, for one that the caller has sent.
HEADERS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "Authorization": (CREDENTIAL, {"x-api-key"}),
    "x-api-key": ({"credential": {**CREDENTIAL["credential"], "header": "x-api-key"}}, {"Authorization"}),
    "another": ({"credential": {**CREDENTIAL["credential"], "header": "api-key"}}, {"Authorization", "x-api-key"}),
    "none": ({}, {"Authorization", "x-api-key"}),
}


@pytest.mark.parametrize(("given", "removed"), HEADERS.values(), ids=HEADERS)
def test_callers_headers_do_not_go_on_and_the_credential_is_not_removed(
    given: dict[str, Any], removed: set[str]
) -> None:
    external = settled(spec=spec(**given), secrets=SECRETS)
    modifier = rule(external)["filters"][1]["requestHeaderModifier"]
    assert removed == {"Authorization", "x-api-key"} & set(modifier["remove"])
    assert {"x-forwarded-for", "x-envoy-external-address"} <= set(modifier["remove"])
    assert external.store["filter"]["spec"]["urlRewrite"] == {"appendXForwardedHost": False}, "nor the router's name"


def test_the_credential_is_in_a_secret_with_its_prefix_and_nowhere_else() -> None:
    external = settled(spec=spec(**CREDENTIAL), secrets=SECRETS)
    secret = external.store["credential"]
    assert secret["data"]["credential"].matches(re.compile(rb"Bearer sk-1"))
    injection = external.store["filter"]["spec"]["credentialInjection"]
    assert injection["credential"]["valueRef"]["name"] == secret["metadata"]["name"]
    assert (injection["header"], injection["overwrite"]) == ("Authorization", True)
    assert "sk-1" not in str(external.store)


def test_a_provider_s_name_of_the_model_and_fixed_headers_are_of_its_route_alone() -> None:
    external = settled(spec=spec(model="qwen/qwen3-32b", headers={"anthropic-version": "2023-06-01"}))
    policy = external.store["model"]["spec"]
    assert [each["name"] for each in policy["targetRefs"]] == [external.store["route"]["metadata"]["name"]]
    assert "'qwen/qwen3-32b'" in policy["lua"][0]["inline"]
    fixed = rule(external)["filters"][1]["requestHeaderModifier"]["set"]
    assert fixed == [{"name": "anthropic-version", "value": "2023-06-01"}]


#: What an endpoint by hand names; the reason and words of its condition.
REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "an IP address": ({"spec": spec("http://10.0.0.7:8000")}, "InvalidHost", "is an IP address"),
    "an IPv6 address": ({"spec": spec("http://[::1]:8000")}, "InvalidHost", "is an IP address"),
    "an IP address in octal": ({"spec": spec("http://0177.0.0.1")}, "InvalidHost", "is an IP address"),
    "an IP address in few parts": ({"spec": spec("http://10.7")}, "InvalidHost", "is an IP address"),
    "an IP address in hexadecimal": ({"spec": spec("http://a.b.0x7f")}, "InvalidHost", "is an IP address"),
    "an IP address that is allowed and has no name": (
        {"spec": spec("https://10.0.0.7"), "allowed": ("10.0.0.7",)},
        "InvalidURL",
        "Set spec.host to a name",
    ),
    "itself": ({"spec": spec("http://localhost:8000")}, "InvalidHost", "is a name inside the control cluster"),
    "a replica's host elsewhere": (
        {"spec": spec(host="a.ml.eu.replicas.modelplane.internal")},
        "InvalidHost",
        "spec.host: the host a.ml.eu.replicas.modelplane.internal is a name inside",
    ),
    "a replica": ({"spec": spec("https://a.ml.eu.replicas.modelplane.internal")}, "InvalidHost", "is a name inside"),
    "a Service": ({"spec": spec("http://a.ml.svc")}, "InvalidHost", "is a name inside the control cluster"),
    "a Service by its whole name": ({"spec": spec("http://a.ml.svc.cluster.local")}, "InvalidHost", "is a name inside"),
    "a cloud's metadata": ({"spec": spec("http://metadata.google.internal")}, "InvalidHost", "is a name inside"),
    "a Service of the router's namespace": ({"spec": spec("http://envoy-gateway")}, "InvalidHost", "has no dot"),
    "a Service by its short name": (
        {"spec": spec("http://kubernetes.default"), "namespaces": ("default",)},
        "InvalidHost",
        "the name of a namespace",
    ),
    "a pod by its address": ({"spec": spec("http://10-0-0-7.shop.pod")}, "InvalidHost", "is a name inside"),
    "a pod of a Service": (
        {"spec": spec("http://web-0.web.shop"), "namespaces": ("shop",)},
        "InvalidHost",
        "the name of a namespace",
    ),
    "a name that is none": ({"spec": spec("https://a_b.example.com")}, "InvalidURL", "neither a DNS name nor"),
    "no Secret": ({"spec": spec(**CREDENTIAL)}, "CredentialMissing", "Secret ml/groq has no value under key token"),
    "a line break": (
        {"spec": spec(**CREDENTIAL), "secrets": {"groq": {"token": b"sk-1\n"}}},
        "CredentialMissing",
        "has a value that no header can carry",
    ),
    "no CA": (
        {"spec": spec(tls={"caSecretRef": {"name": "ca", "key": "pem"}})},
        "CredentialMissing",
        "spec.tls.caSecretRef: Secret ml/ca has no value",
    ),
    "no kinds": ({"kinds": False}, "WaitingForGateway", "Install Envoy Gateway"),
    "no gateway": ({"gateway": None}, "WaitingForGateway", "there is no InferenceGateway default"),
    "no router": ({"gateway": {}}, "WaitingForGateway", "Gateway modelplane-system/provider-router does not serve yet"),
}


@pytest.mark.parametrize(("fields", "reason", "words"), REFUSED.values(), ids=REFUSED)
def test_an_endpoint_by_hand_that_cannot_be_reached_says_why_and_composes_nothing(
    fields: dict[str, Any], reason: str, words: str
) -> None:
    external = External(**fields)
    assert external.desired() == {}
    status, shown, message = condition(external)
    assert (status, shown) == ("False", reason)
    assert words in message


def test_the_inference_gateway_may_allow_a_host_inside() -> None:
    assert "route" in settled(spec=spec("http://models.shop.svc:8000"), allowed=("models.shop.svc",)).store


def test_an_address_that_is_allowed_is_dialled_as_an_address() -> None:
    external = settled(spec=spec("http://10.0.0.7:8000", host="llm.example.com"), allowed=("10.0.0.7",))
    assert rule(external)["filters"][0]["urlRewrite"]["hostname"] == "llm.example.com"
    assert external.store["backend"]["spec"]["endpoints"] == [{"ip": {"address": "10.0.0.7", "port": 8000}}]


def test_an_endpoint_says_what_of_it_the_gateway_refuses() -> None:
    external = settled()
    external.accept()
    refused = {"type": "Accepted", "status": "False", "message": "hostname localhost should have two segments"}
    external.store["backend"]["status"] = {"conditions": [refused]}
    status, reason, message = condition(external)
    assert (status, reason) == ("False", "BackendRejected")
    name = external.store["backend"]["metadata"]["name"]
    assert message == f"Envoy Gateway does not accept Backend {name}: hostname localhost should have two segments"


def test_what_was_composed_stays_while_the_credential_is_missing_and_takes_no_new_requests() -> None:
    external = settled(spec=spec(**CREDENTIAL), secrets=SECRETS)
    external.accept()
    was = external.desired()
    external.secrets = {}
    assert external.desired() == was
    status = external.reconcile().status
    assert status is not None
    assert status["routing"]["ready"] is False

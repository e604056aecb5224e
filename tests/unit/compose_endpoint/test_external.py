"""An external provider: what leads to it from the router, and what is refused."""

import re
from typing import Any

import pytest

from modelplane.step.sealed import Sealed
from property.externals import CERTIFICATE, ROUTER, External

#: What is said of a Secret that is not there, to be followed by the key.
ABSENT = "does not exist; it is needed with key"
CREDENTIAL: dict[str, Any] = {"credential": {"secretRef": {"name": "groq", "key": "token"}, "header": "Authorization"}}
SECRETS = {"groq": {"token": b"sk-1"}}
#: What Envoy would refuse, and whatever comes together with it.
CRL = b"-----BEGIN X509 CRL-----\nY2E=\n-----END X509 CRL-----\n"
PEM_ALONE = b"-----BEGIN CERTIFICATE-----\nY2E=\n-----END CERTIFICATE-----\n"


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


@pytest.mark.proves("P95")
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


def test_a_provider_that_is_switched_off_is_not_ready_and_says_so() -> None:
    external = settled(spec=spec(ready=False))
    external.accept()
    assert condition(external) == (
        "True",
        "BackendConfigured",
        "spec.ready is false: no service sends requests here.",
    )
    status = external.reconcile().status
    assert status is not None
    assert status["routing"]["ready"] is False


#: The URL and rewritePath of an endpoint, and the path that stands for /v1, the address and port that are dialled.
ROOTS: dict[str, tuple[dict[str, Any], str, tuple[str, int]]] = {
    "a path": (spec(), "/openai/v1", ("api.example.com", 443)),
    "a path with a slash": (spec("https://api.example.com/api/"), "/api", ("api.example.com", 443)),
    "no path": (spec("https://api.example.com"), "/v1", ("api.example.com", 443)),
    "a path that is none": (spec("https://api.example.com/"), "/v1", ("api.example.com", 443)),
    "an older prefix without slashes": (
        spec("https://api.example.com", rewritePath="p/q"),
        "/p/q/v1",
        ("api.example.com", 443),
    ),
    "an older prefix": (spec("http://api.example.com:443", rewritePath="/p/"), "/p/v1", ("api.example.com", 443)),
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


def test_a_host_header_without_tls_may_be_any_name() -> None:
    host = f"{'a' * 64}.example.com"
    external = settled(spec=spec("http://api.example.com", host=host))
    external.accept()
    assert condition(external)[:2] == ("True", "BackendConfigured")
    assert rule(external)["filters"][0]["urlRewrite"]["hostname"] == host


def test_a_provider_with_tls_is_verified_always() -> None:
    assert settled().store["backend"]["spec"]["tls"] == {
        "sni": "api.example.com",
        "wellKnownCACertificates": "System",
    }
    own = {"caSecretRef": {"name": "ca", "key": "pem"}, "serverName": "other.example.com"}
    external = settled(spec=spec(tls=own), secrets={"ca": {"pem": b"# ours\n" + CERTIFICATE + CRL}})
    secret = external.store["authority"]
    assert external.store["backend"]["spec"]["tls"] == {
        "sni": "other.example.com",
        "caCertificateRefs": [{"group": "", "kind": "Secret", "name": secret["metadata"]["name"]}],
    }
    assert secret["data"] == {"ca.crt": Sealed(CERTIFICATE)}
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


def test_a_percent_sign_in_a_fixed_header_is_no_command_of_envoy() -> None:
    external = settled(spec=spec(headers={"x-share": "100%", "x-home": "%ENVIRONMENT(HOME)%"}))
    fixed = rule(external)["filters"][1]["requestHeaderModifier"]["set"]
    assert fixed == [{"name": "x-home", "value": "%%ENVIRONMENT(HOME)%%"}, {"name": "x-share", "value": "100%%"}]


GATEWAY = {"services": {"router": ROUTER}, "address": "192.0.2.1", "url": "https://models.example.com"}
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
    "a certificate's name that is none": (
        {"spec": spec(tls={"serverName": f"{'a' * 64}.example.com"})},
        "InvalidURL",
        f"spec.tls.serverName: {'a' * 64}.example.com is no DNS name",
    ),
    "a host that no certificate has": (
        {"spec": spec(host=f"{'a' * 64}.example.com")},
        "InvalidURL",
        f"spec.host: {'a' * 64}.example.com is no DNS name",
    ),
    "a path with a control character": (
        {"spec": spec("https://api.example.com/v1\x00")},
        "InvalidURL",
        "spec.url: the path has a control character",
    ),
    "an older prefix of two lines": (
        {"spec": spec("https://api.example.com", rewritePath="/p\n")},
        "InvalidURL",
        "spec.rewritePath: the path has a control character",
    ),
    "a path that no HTTPRoute takes": (
        {"spec": spec(f"https://api.example.com/{'p' * 1024}")},
        "InvalidURL",
        "more than 1024 characters",
    ),
    "no Secret": ({"spec": spec(**CREDENTIAL)}, "CredentialMissing", f"Secret ml/groq {ABSENT} token"),
    "a line break": (
        {"spec": spec(**CREDENTIAL), "secrets": {"groq": {"token": b"sk-1\n"}}},
        "CredentialMissing",
        "has a value that no header can carry",
    ),
    "a prefix of two lines": (
        {"spec": {**spec(), "credential": {**CREDENTIAL["credential"], "prefix": "Bearer\r\n"}}, "secrets": SECRETS},
        "CredentialMissing",
        "spec.credential.prefix has a control character",
    ),
    "no CA": (
        {"spec": spec(tls={"caSecretRef": {"name": "ca", "key": "pem"}})},
        "CredentialMissing",
        f"spec.tls.caSecretRef: Secret ml/ca {ABSENT} pem. Write it",
    ),
    "a CA that is no certificate": (
        {"spec": spec(tls={"caSecretRef": {"name": "ca", "key": "pem"}}), "secrets": {"ca": {"pem": b"certificate"}}},
        "CredentialMissing",
        "spec.tls.caSecretRef: Secret ml/ca has no valid X.509 certificates in PEM under key pem. Write it",
    ),
    "a CA that is PEM and no X.509": (
        {"spec": spec(tls={"caSecretRef": {"name": "ca", "key": "pem"}}), "secrets": {"ca": {"pem": PEM_ALONE}}},
        "CredentialMissing",
        "spec.tls.caSecretRef: Secret ml/ca has no valid X.509 certificates in PEM under key pem. Write it",
    ),
    "the gateway's address": (
        {"spec": spec("http://192.0.2.1/ml/a/v1"), "allowed": ("192.0.2.1",), "gateway": GATEWAY},
        "InvalidHost",
        "spec.url: 192.0.2.1 is the gateway itself",
    ),
    "the gateway's name": (
        {"spec": spec("https://Models.Example.com/v1"), "gateway": GATEWAY},
        "InvalidHost",
        "spec.url: models.example.com is the gateway itself",
    ),
    "the gateway's name in the Host header": (
        {"spec": spec(host="models.example.com"), "gateway": GATEWAY},
        "InvalidHost",
        "spec.host: models.example.com is the gateway itself",
    ),
    "the gateway's Service in a cluster of another domain": (
        {"spec": spec("http://public-gateway.envoy-gateway-system.svc.example.org")},
        "InvalidHost",
        "is the gateway itself",
    ),
    "the router's Service, which is allowed": (
        {"spec": spec(f"https://{ROUTER}"), "allowed": (ROUTER,)},
        "InvalidHost",
        f"spec.url: {ROUTER} is the gateway itself",
    ),
    "a port that is not opened": (
        {"spec": spec("http://localtest.me:19000/v1")},
        "InvalidHost",
        "spec.url: the host localtest.me is called at port 19000, which is neither 80 nor 443",
    ),
    "a host of another namespace": (
        {"spec": spec("http://models.shop.svc"), "allowed": ("shop/models.shop.svc",)},
        "InvalidHost",
        "is a name inside",
    ),
    "a host at another port": (
        {"spec": spec("http://models.shop.svc"), "allowed": ("models.shop.svc:8000",)},
        "InvalidHost",
        "is a name inside",
    ),
    "a public host where the list is complete": (
        {"spec": spec(), "allowed": ("other.example.com",), "policy": "Listed"},
        "InvalidHost",
        "is not listed, and spec.endpointHostPolicy is Listed",
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


@pytest.mark.parametrize("allowed", ["models.shop.svc", "Models.Shop.SVC"])
def test_the_inference_gateway_may_allow_a_host_inside_in_any_case_of_letters(allowed: str) -> None:
    assert "route" in settled(spec=spec("http://models.shop.svc:8000"), allowed=(allowed,)).store


@pytest.mark.parametrize(
    "allowed", ["a.example.com", "a.example.com:8000", "ml/a.example.com", "ml/A.example.com:8000"]
)
@pytest.mark.parametrize("policy", ["Public", "Listed"])
def test_the_inference_gateway_may_allow_a_host_to_a_namespace_and_at_a_port(allowed: str, policy: str) -> None:
    external = External(spec=spec("https://a.example.com:8000"), allowed=(allowed,), policy=policy)
    external.settle()
    assert "route" in external.store


def test_an_endpoint_at_a_port_that_was_allowed_before_is_kept_and_says_what_to_do_until_it_is_edited() -> None:
    external = settled(spec=spec("https://a.example.com:8000"), allowed=("a.example.com",))
    external.accept()
    was, external.allowed = external.desired(), ()
    status, reason, message = condition(external)
    assert (status, reason) == ("True", "BackendConfigured")
    assert message.startswith("spec.url: the host a.example.com is called at port 8000, which is neither 80 nor 443;")
    assert message.endswith("Let spec.endpointHosts of InferenceGateway default allow it.")
    assert external.desired() == was
    external.spec = spec("https://a.example.com:8001")
    assert condition(external)[:2] == ("False", "InvalidHost")


UNSENT = ["x-envoy-max-retries", "X-Envoy-Retry-On", "Keep-Alive", "Proxy-Connection", "Expect", "CDN-Loop", "Metadata"]


@pytest.mark.parametrize("name", [*UNSENT, "metadata-flavor", "X-aws-ec2-metadata-token", "modelplane-served-model"])
def test_a_fixed_header_that_says_how_requests_are_sent_is_not_sent_and_named(name: str) -> None:
    external = settled(spec=spec(headers={name: "1", "x-team": "search"}))
    external.accept()
    fixed = rule(external)["filters"][1]["requestHeaderModifier"]["set"]
    assert fixed == [{"name": "x-team", "value": "search"}]
    assert condition(external)[2] == f"spec.headers: {name} is not sent. Remove it."


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


@pytest.mark.parametrize("secrets", [{}, {"groq": {}}, {"groq": {"token": b"sk-1\n"}}])
def test_an_endpoint_without_its_credential_stays_and_is_not_even_the_last_resort_of_a_service(
    secrets: dict[str, dict[str, bytes]],
) -> None:
    external = settled(spec=spec(**CREDENTIAL), secrets=SECRETS)
    external.accept()
    was = external.desired()
    external.secrets = secrets
    assert external.desired() == was
    assert condition(external)[:2] == ("False", "CredentialMissing")
    assert external.reconcile().status == {}


@pytest.mark.parametrize("value", [b"", b"no certificate", PEM_ALONE, CERTIFICATE + PEM_ALONE])
def test_the_last_certificates_of_a_ca_stay_while_its_secret_has_none(value: bytes) -> None:
    secrets = {"ca": {"pem": CERTIFICATE}}
    external = settled(spec=spec(tls={"caSecretRef": {"name": "ca", "key": "pem"}}), secrets=secrets)
    external.accept()
    was = external.desired()
    external.secrets = {"ca": {"pem": value}}
    assert external.desired() == was
    status = external.reconcile().status
    assert status is not None
    assert status["routing"]["ready"] is False


def test_an_endpoint_is_ready_once_the_router_has_accepted_the_last_change_and_serves_until_then() -> None:
    external = settled()
    external.accept()
    route = external.store["route"]
    (seen,) = route["status"]["parents"][0]["conditions"]
    route["metadata"]["generation"], seen["observedGeneration"] = 2, 1
    status, reason, message = condition(external)
    assert (status, reason) == ("False", "WaitingForGateway")
    assert "Envoy Gateway has not accepted the last change yet" in message
    published = external.reconcile().status
    assert published is not None
    assert published["routing"]["ready"] is True
    seen["observedGeneration"] = 2
    assert condition(external)[0] == "True"


#: The value of a header in a route that an earlier version composed, and as it stays where nothing new is composed.
HEADERS_BEFORE = {"100%": "100%%", "%ENVIRONMENT(HOME)%": "%%ENVIRONMENT(HOME)%%", "100%%": "100%%", "plain": "plain"}


@pytest.mark.parametrize(("before", "stays"), HEADERS_BEFORE.items())
def test_a_route_that_is_held_has_no_command_of_envoy_in_a_header(before: str, stays: str) -> None:
    external = settled(spec=spec(**CREDENTIAL, headers={"x-share": "1"}), secrets=SECRETS)
    rule(external)["filters"][1]["requestHeaderModifier"]["set"][0]["value"] = before
    external.secrets = {}
    for _ in range(2):
        external.store = external.desired()
        assert rule(external)["filters"][1]["requestHeaderModifier"]["set"] == [{"name": "x-share", "value": stays}]


def test_a_route_whose_path_stops_the_gateway_is_not_held_and_the_endpoint_says_why() -> None:
    external = settled()
    external.accept()
    others = external.store.keys() - {"route"}
    rule(external)["filters"][0]["urlRewrite"]["path"]["replacePrefixMatch"] = "/v1\x00"
    external.spec = spec("https://api.example.com/v1\x00")
    assert external.desired().keys() == others
    assert condition(external)[:2] == ("False", "InvalidURL")
    external.store = external.desired()
    assert external.reconcile().status == {}


def test_a_route_by_a_ca_that_is_no_certificate_is_not_held() -> None:
    secrets = {"ca": {"pem": CERTIFICATE}}
    external = settled(spec=spec(tls={"caSecretRef": {"name": "ca", "key": "pem"}}), secrets=secrets)
    external.accept()
    others = external.store.keys() - {"route"}
    external.store["authority"]["data"]["ca.crt"] = Sealed(PEM_ALONE)
    external.secrets = {"ca": {"pem": PEM_ALONE}}
    assert external.desired().keys() == others


def test_an_endpoint_whose_host_is_no_longer_allowed_is_not_even_the_last_resort_of_a_service() -> None:
    external = settled(spec=spec("http://models.shop.svc:8000"), allowed=("models.shop.svc",))
    external.accept()
    was = external.desired()
    external.allowed = ()
    assert condition(external)[:2] == ("False", "InvalidHost")
    assert external.reconcile().status == {}
    assert external.desired() == was


def test_kubernetes_deletes_all_that_an_endpoint_by_hand_has_composed_after_its_route() -> None:
    secured = {"tls": {"caSecretRef": {"name": "s", "key": "ca"}}}
    named = spec(model="m", credential={"secretRef": {"name": "s", "key": "k"}}, **secured)
    external = External(spec=named, secrets={"s": {"k": b"1", "ca": CERTIFICATE}})
    external.settle()
    route = external.store["route"]["metadata"]
    route["uid"] = "u-1"
    owner = {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "name": route["name"], "uid": "u-1"}
    made = external.desired()
    assert "ownerReferences" not in made.pop("route")["metadata"]
    assert made.keys() == {"backend", "model", "credential", "filter", "authority"}
    for body in made.values():
        assert body["metadata"]["ownerReferences"] == [owner]
    # Held ones stay so, too.
    external.store |= made
    external.secrets = {}
    assert {name: body["metadata"] for name, body in external.desired().items() if name != "route"} == {
        name: body["metadata"] for name, body in made.items()
    }

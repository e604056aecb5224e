"""The CA of the hops to clusters: when it is trusted, when the public gateway shows its pair, and who is trusted."""

import base64
from typing import Any

import pytest

from modelplane.step.sealed import Sealed
from modelplane.step.secrets import seal_secrets
from unit.compose_cluster.public.gateways import NAMED, bodies, decided, serving

KEY = "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n"


def pem(name: str) -> str:
    """Return what looks like a certificate; each name has another."""
    text = base64.b64encode(name.encode()).decode()
    return f"-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n"


def secret(name: str, certificate: str, authority: str) -> dict[str, Any]:
    values = {"tls.crt": certificate, "tls.key": KEY, "ca.crt": authority}
    data = {key: base64.b64encode(value.encode()).decode() for key, value in values.items()}
    metadata = {"name": name, "namespace": "modelplane-system"}
    return dict(seal_secrets({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data}))


def secrets(authority: str, **signed_by: str) -> dict[str, Any]:
    """Return the Secrets that are required: the CA, and by name (_ for -) pairs with the CA that signed each."""
    pairs = [secret(name.replace("_", "-"), pem(f"pair {name}"), pem(by)) for name, by in signed_by.items()]
    return {"authorities": [secret("modelplane-ca", pem(authority), pem(authority))], "pairs": pairs}


ISSUED = secrets("ca", public_gateway_client="ca")


def test_the_public_gateway_shows_a_pair_once_that_is_issued_and_then_always() -> None:
    store = serving("http")
    without = decided(store, secrets=secrets("ca"))
    assert "backendTLS" not in bodies(without)["envoy-proxy"]["spec"]
    shown = bodies(decided(store, secrets=ISSUED))["envoy-proxy"]
    assert shown["spec"]["backendTLS"] == {"clientCertificateRef": {"kind": "Secret", "name": "public-gateway-client"}}
    kept = bodies(decided({**store, "envoy-proxy": shown}))["envoy-proxy"]
    assert kept["spec"] == shown["spec"], "not fetched yet: it stays"


def showing() -> dict[str, Any]:
    store = serving("http")
    return {**store, "envoy-proxy": bodies(decided(store, secrets=ISSUED))["envoy-proxy"]}


#: The store, the Secrets and the last bundle; the bundle that is published.
BUNDLES: dict[str, tuple[bool, dict[str, Any], str, str]] = {
    "the public gateway shows no pair yet": (False, ISSUED, "", ""),
    "it does": (True, ISSUED, "", pem("ca")),
    "the CA is not fetched": (True, {}, pem("ca"), pem("ca")),
    "the CA's Secret is gone": (True, {"authorities": [], "pairs": []}, pem("ca"), pem("ca")),
    "the CA has changed": (True, secrets("new", public_gateway_client="ca"), pem("ca"), pem("new") + pem("ca")),
    "every pair is signed anew": (True, secrets("new", public_gateway_client="new"), pem("ca"), pem("new") + pem("ca")),
    "three CAs": (True, secrets("3", a="3"), pem("2") + pem("1"), pem("3") + pem("2") + pem("1")),
    "four CAs, the oldest signs nothing": (
        True,
        secrets("4", a="2"),
        pem("3") + pem("2") + pem("1"),
        pem("4") + pem("2") + pem("3"),
    ),
}


@pytest.mark.parametrize(("shows", "required", "last", "published"), BUNDLES.values(), ids=BUNDLES)
def test_the_present_ca_those_of_pairs_in_use_and_the_last_ones_are_trusted(
    shows: bool, required: dict[str, Any], last: str, published: str
) -> None:
    status = {"caBundle": last} if last else {}
    result = decided(showing() if shows else serving("http"), secrets=required, status=status)
    assert result.status is not None
    assert result.status.get("caBundle", "") == published


def test_an_annotation_ends_the_trust_in_cas_that_sign_nothing() -> None:
    annotated = decided(
        showing(),
        annotations={"modelplane.ai/trust-in-use": "true"},
        status={"caBundle": pem("2") + pem("1")},
        secrets=secrets("3", a="2"),
    )
    assert annotated.status is not None
    assert annotated.status["caBundle"] == pem("3") + pem("2")


def test_a_certificate_that_is_not_issued_is_named_with_the_words_of_cert_manager() -> None:
    store = serving("http")
    refused = {"type": "Ready", "status": "False", "message": "Issuer modelplane-ca is not ready"}
    store["client-pair"]["status"] = {"conditions": [refused]}
    (condition,) = decided(store).conditions
    assert (condition.status, condition.reason, condition.message) == (
        "False",
        "Installing",
        "Certificate public-gateway-client: Issuer modelplane-ca is not ready",
    )


def test_without_cert_manager_what_serves_stays_and_says_what_to_install() -> None:
    store = {name: body for name, body in serving("http").items() if body["apiVersion"] != "cert-manager.io/v1"}
    result = decided(store, missing=("cert-manager",))
    assert bodies(result).keys() == store.keys()
    url = {"address": "gw.example.org", "url": "http://gw.example.org", "listeners": ["http"]}
    assert result.status == {**url, "services": NAMED}
    (condition,) = result.conditions
    assert condition.message == (
        "the control cluster has no kind Issuer (cert-manager.io/v1). Install cert-manager and its CRDs."
    )


def test_kinds_that_crossplane_s_schemas_lack_are_composed_once_their_definition_is_established() -> None:
    issuers = {
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "issuers.cert-manager.io"},
        "spec": {"versions": [{"name": "v1", "served": True}]},
    }
    before = decided({}, missing=("cert-manager",), definitions={"definition-cert-manager": issuers})
    assert bodies(before) == {}
    issuers["status"] = {"conditions": [{"type": "Established", "status": "True"}]}
    after = decided({}, missing=("cert-manager",), definitions={"definition-cert-manager": issuers})
    assert bodies(after).keys() == bodies(decided({})).keys()


def test_of_a_sealed_value_certificates_alone_can_be_read() -> None:
    assert Sealed((pem("a") + KEY + pem("b")).encode()).certificates() == (pem("a"), pem("b"))
    assert Sealed(KEY.encode()).certificates() == ()
    assert Sealed(KEY.replace("PRIVATE KEY", "CERTIFICATE", 1).encode()).certificates() == ()

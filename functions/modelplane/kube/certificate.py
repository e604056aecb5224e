"""cert-manager's Issuers and Certificates, and the ConfigMap with a CA's certificates."""

from typing import Any, Final

from modelplane.model.names import AUTHORITY, CA_KEY, LABEL_CERTIFICATE, OF_AUTHORITY, OF_PAIR, SYSTEM_NAMESPACE

CERTIFICATE_API: Final = "cert-manager.io/v1"
CERTIFICATE_KIND: Final = "Certificate"
_SELF_SIGNED: Final = "modelplane-self-signed"
#: Ten years, and ninety days.
_AUTHORITY_DURATION: Final = "87600h"
_PAIR_DURATION: Final = "2160h"
_KEY: Final = {"algorithm": "ECDSA", "size": 256, "rotationPolicy": "Always"}


def _object(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": name, "namespace": SYSTEM_NAMESPACE}
    return {"apiVersion": CERTIFICATE_API, "kind": kind, "metadata": metadata, "spec": spec}


def _certificate(name: str, issuer: str, of: str, spec: dict[str, Any]) -> dict[str, Any]:
    common = {
        "secretName": name,
        "secretTemplate": {"labels": {LABEL_CERTIFICATE: of}},
        "privateKey": dict(_KEY),
        "issuerRef": {"group": "cert-manager.io", "kind": "Issuer", "name": issuer},
    }
    return _object(CERTIFICATE_KIND, name, {**common, **spec})


def self_signed_issuer() -> dict[str, Any]:
    """Return the Issuer that signs the CA."""
    return _object("Issuer", _SELF_SIGNED, {"selfSigned": {}})


def authority() -> dict[str, Any]:
    """Return the Certificate of the CA."""
    spec = {"isCA": True, "commonName": "Modelplane", "duration": _AUTHORITY_DURATION, "usages": ["cert sign"]}
    return _certificate(AUTHORITY, _SELF_SIGNED, OF_AUTHORITY, spec)


def authority_issuer() -> dict[str, Any]:
    """Return the Issuer that signs key pairs with the CA."""
    return _object("Issuer", AUTHORITY, {"ca": {"secretName": AUTHORITY}})


def pair(name: str, dns_name: str, usage: str) -> dict[str, Any]:
    """Return the Certificate of a key pair in a Secret of this name; `usage` is "client auth" or "server auth"."""
    spec = {"dnsNames": [dns_name], "usages": ["digital signature", usage], "duration": _PAIR_DURATION}
    return _certificate(name, AUTHORITY, OF_PAIR, spec)


def authority_config_map(name: str, namespace: str, bundle: str) -> dict[str, Any]:
    """Return the ConfigMap with the certificates of the CA."""
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {CA_KEY: bundle}}

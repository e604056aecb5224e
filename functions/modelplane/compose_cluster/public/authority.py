"""The control cluster's CA, the public gateway's client key pair, and the CA certificates that verify all hops.

cert-manager issues and renews them. A new CA signs a pair only when the pair is renewed, weeks later, so both CAs are
trusted meanwhile.
"""

from typing import Final

from modelplane.compose_cluster.public.gateway import PROXY
from modelplane.composing import requirements as require
from modelplane.kube.certificate import authority, authority_issuer, pair, self_signed_issuer
from modelplane.model.names import ANNOTATION_TRUST_IN_USE, AUTHORITY, CA_KEY, CLIENT_NAME, CLIENT_PAIR
from modelplane.observed.fields import condition, is_true, mapping, text
from modelplane.step import Manifest, Object, Request
from modelplane.step.sealed import Sealed

#: Composition resource names.
_AUTHORITY: Final = "authority"
_CLIENT: Final = "client-pair"
_ISSUERS: Final = ("self-signed-issuer", "authority-issuer")
#: The most CAs that are trusted at a time. A CA that signs no pair stays while there is room, because a cluster that
#: does not answer may still use a certificate that it has signed.
_TRUSTED: Final = 3


def bodies(request: Request) -> dict[str, Manifest]:
    """Return the Issuers and Certificates: none until their kinds exist, from then on always."""
    made: dict[str, Manifest] = {
        _ISSUERS[0]: self_signed_issuer(),
        _AUTHORITY: authority(),
        _ISSUERS[1]: authority_issuer(),
        _CLIENT: pair(CLIENT_PAIR, CLIENT_NAME, "client auth"),
    }
    there = require.missing_kinds(request, require.CERTIFICATE_KINDS) == "" or made.keys() & request.observed.keys()
    return made if there else {}


def obstacles(request: Request) -> list[str]:
    """Return which Certificates are not issued, each with cert-manager's message."""
    found = {f"Certificate {name}": request.observed.get(resource) for resource, name in _NAMES.items()}
    return [f"{name}: {_why(each)}" for name, each in found.items() if each is None or not is_true(each, "Ready")]


_NAMES: Final = {_AUTHORITY: AUTHORITY, _CLIENT: CLIENT_PAIR}


def _why(certificate: Object | None) -> str:
    words = text(condition(certificate, "Ready").get("message")) if certificate else ""
    return words or "cert-manager has not issued it yet"


def client_pair(request: Request) -> str | None:
    """Return the Secret of the public gateway's pair: None until it has been issued, from then on always.

    With a reference to a Secret that does not exist, Envoy Gateway answers every request with 500.
    """
    proxy = request.observed.get(PROXY)
    shown = proxy is not None and "backendTLS" in mapping(proxy.body.get("spec"))
    return CLIENT_PAIR if shown or is_issued(request, CLIENT_PAIR) else None


def is_issued(request: Request, name: str) -> bool:
    """Tell whether the Secret of a pair has been issued."""
    secrets = request.required.get(require.pairs().name, ())
    return any(each.name == name and _certificates(each, "tls.crt") for each in secrets)


def read_bundle(request: Request) -> str:
    """Return the CA certificates to publish, the present CA's first; "" until the public gateway has its own pair.

    Then come those of CAs that have signed a pair in use, and those that were published before, unless an annotation
    ends the trust in them.
    """
    last = text(mapping(request.composite.body.get("status")).get("caBundle"))
    authorities, pairs = (request.required.get(each.name) for each in (require.authorities(), require.pairs()))
    proxy = request.observed.get(PROXY)
    shows = proxy is not None and "backendTLS" in mapping(proxy.body.get("spec"))
    if not authorities or pairs is None or not (shows or last):
        return last
    present = [each for secret in authorities for each in _certificates(secret, "tls.crt")]
    in_use = [each for secret in pairs for each in _certificates(secret, CA_KEY)]
    annotations = mapping(request.composite.metadata.get("annotations"))
    before = () if annotations.get(ANNOTATION_TRUST_IN_USE) == "true" else Sealed(last.encode()).certificates()
    return "".join(list(dict.fromkeys((*present, *in_use, *before)))[:_TRUSTED])


def _certificates(secret: Object, key: str) -> tuple[str, ...]:
    value = mapping(secret.body.get("data")).get(key)
    return value.certificates() if isinstance(value, Sealed) else ()

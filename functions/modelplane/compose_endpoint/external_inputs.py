"""The inputs for an external provider: its URL, its Secrets, and the router."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from modelplane.api.modelendpoint import ModelEndpointSpec
from modelplane.compose_endpoint.secret_value import lacking, read_value
from modelplane.composing import requirements as require
from modelplane.composing.messages import sentences
from modelplane.model.conditions import Reason
from modelplane.model.routing import Provider, PublicGateway
from modelplane.observed.endpoint import PORTS, URL, NoAddress, is_dns_name, is_ip
from modelplane.observed.fields import mapping, mappings
from modelplane.observed.gateway import read_gateway
from modelplane.routing.hosts import is_own, refuse_host, refuse_port
from modelplane.step import Object, Request, Requirement
from modelplane.step.sealed import Sealed

AUTHORIZATION: Final = "Authorization"
_BEARER: Final = "Bearer "
#: A valid value of a header: a trailing line break is a common mistake.
_USABLE: Final = re.compile(rb"[!-~]([ -~]{0,8190}[!-~])?")
#: Envoy sends no header with a control character, and answers each request with 503.
_PREFIX: Final = re.compile(r"[^\x00-\x1f\x7f]*")
_API: Final = "/v1"
#: Composition resource name of the Backend.
BACKEND: Final = "backend"
#: Fixed headers that are not sent: those by which a gateway is told how to send a request, those of this gateway, and
#: those without which a cloud's metadata are not served.
UNSENT: Final = re.compile(
    r"x-envoy-.*|keep-alive|proxy-connection|expect|cdn-loop|modelplane-.*|metadata.*|x-aws-ec2-metadata-.*",
    re.IGNORECASE,
)
#: A valid path for HTTPRoutes and Envoy: on one control character, Envoy Gateway stops publishing all teams' routes.
PATH: Final = re.compile(r"[^\x00-\x1f\x7f]{1,1024}")


@dataclass(frozen=True, slots=True)
class ExternalInputs:
    """The inputs of a hand-written endpoint.

    `credential` is the complete value of its header, None without a usable one, `authority` the certificates of the CA;
    `missing` says which of them the spec names and do not exist. `gateway` is None if there is no InferenceGateway.
    `notes` say what an endpoint should not have, and has kept of an earlier version.
    """

    provider: Provider | NoAddress
    credential: Sealed | None
    authority: Sealed | None
    missing: tuple[str, ...]
    gateway: PublicGateway | None
    notes: str


def _host(spec: ModelEndpointSpec) -> str:
    parts = URL.fullmatch(spec.url)
    return parts[2].lower() if parts else ""


def _namespace(spec: ModelEndpointSpec) -> str:
    """Return the last label of the host, "" if it is not a valid name of a namespace."""
    last = _host(spec).rpartition(".")[2]
    return last if is_dns_name(last) else ""


def _secrets(spec: ModelEndpointSpec) -> list[str]:
    named = [spec.credential.secretRef.name] if spec.credential else []
    return named + ([spec.tls.caSecretRef.name] if spec.tls and spec.tls.caSecretRef else [])


def requirements(request: Request, spec: ModelEndpointSpec) -> tuple[Requirement, ...]:
    """Return what must be fetched."""
    secrets = [require.source("Secret", name, request.composite.namespace) for name in sorted({*_secrets(spec)})]
    last = _namespace(spec)
    known = (require.inference_gateway(), *require.definitions(request))
    return (*known, *([require.namespace(last)] if last else ()), *secrets)


def read_inputs(request: Request, spec: ModelEndpointSpec, needs: Sequence[Requirement]) -> ExternalInputs | None:
    """Return the inputs, None until they are fetched."""
    if any(each.name not in request.required for each in needs):
        return None
    found = request.one(require.inference_gateway())
    gateway = read_gateway(found) if isinstance(found, Object) else None
    credential, unusable = _read_credential(request, spec)
    missing, authority = [unusable] if unusable else [], None
    if spec.tls and spec.tls.caSecretRef:
        named = spec.tls.caSecretRef
        given = read_value(request, named.name, named.key)
        authority = given.authority() if given else None
        if authority is None:
            unusable = f"has no valid X.509 certificates in PEM under key {named.key}"
            wrong = unusable if given else lacking(request, named.name, named.key)
            missing.append(_words(request, "spec.tls.caSecretRef", named.name, wrong))
    return ExternalInputs(
        _provider(request, spec, gateway),
        credential,
        authority,
        tuple(missing),
        gateway,
        _notes(request, spec, gateway),
    )


def _read_credential(request: Request, spec: ModelEndpointSpec) -> tuple[Sealed | None, str]:
    """Return the complete value of the credential's header, and the problem if there is none."""
    if spec.credential is None:
        return None, ""
    reference, header, prefix = spec.credential.secretRef, spec.credential.header, spec.credential.prefix
    found = read_value(request, reference.name, reference.key)
    if found is None or not found.matches(_USABLE):
        unusable = f"has a value that no header can carry under key {reference.key}"
        wrong = lacking(request, reference.name, reference.key) if found is None else unusable
        return None, _words(request, "spec.credential", reference.name, wrong)
    if prefix is None:
        prefix = _BEARER if header.lower() == AUTHORIZATION.lower() else ""
    if not _PREFIX.fullmatch(prefix):
        return None, "spec.credential.prefix has a control character, which no header can carry. Remove it"
    return found.prefixed(prefix.encode()), ""


def _words(request: Request, field: str, name: str, wrong: str) -> str:
    return f"{field}: Secret {request.composite.namespace}/{name} {wrong}. Write it"


def _allows(gateway: PublicGateway | None, host: str, namespace: str, port: int | None) -> bool:
    """Tell whether the InferenceGateway allows a host by name, at a port or at any."""
    return any(each.allows(host, namespace, port) for each in (gateway.endpoint_hosts if gateway else ()))


def _refused_host(
    request: Request, spec: ModelEndpointSpec, gateway: PublicGateway | None, port: int
) -> tuple[str, str, str] | None:
    """Return the field, its host and why an endpoint may not name that, None if it may."""
    namespace, last = request.composite.namespace, _namespace(spec)
    named = {"spec.url": (_host(spec), port), **({"spec.host": (spec.host, None)} if spec.host else {})}
    for field, (host, at) in named.items():
        if _allows(gateway, host, namespace, at):
            continue
        completed = field == "spec.url" and bool(last) and bool(request.all(require.namespace(last)))
        why = refuse_host(host, is_namespace=completed)
        if not why and at is not None and gateway and gateway.listed_only:
            why = "is not listed, and spec.endpointHostPolicy is Listed"
        if not why and at is not None and not _leads_to(request, host, at):
            why = refuse_port(at)
        if why:
            return field, host, why
    return None


def _leads_to(request: Request, host: str, port: int) -> bool:
    """Tell whether the composed Backend leads to a host and port already, of an earlier version for example."""
    backend = request.observed.get(BACKEND)
    endpoints = mappings(mapping(backend.body.get("spec")).get("endpoints")) if backend else ()
    named = (mapping(each.get("fqdn")) for each in endpoints)
    return any((each.get("hostname"), each.get("port")) == (host, port) for each in named)


def _notes(request: Request, spec: ModelEndpointSpec, gateway: PublicGateway | None) -> str:
    """Return what an endpoint should not have, and has kept of an earlier version."""
    parts, notes = URL.fullmatch(spec.url), []
    port = int(parts[3] or PORTS[parts[1]]) if parts else 0
    refused = (
        refuse_port(port) if parts and not _allows(gateway, _host(spec), request.composite.namespace, port) else ""
    )
    if refused:
        notes.append(
            f"spec.url: the host {_host(spec)} {refused}; after an edit it is refused, and the NetworkPolicy of the "
            "router may close it before. Let spec.endpointHosts of InferenceGateway default allow it"
        )
    unsent = sorted(filter(UNSENT.fullmatch, spec.headers or {}))
    if unsent:
        notes.append(f"spec.headers: {', '.join(unsent)} is not sent. Remove it")
    return sentences(*notes)


def _provider(request: Request, spec: ModelEndpointSpec, gateway: PublicGateway | None) -> Provider | NoAddress:
    parts, host = URL.fullmatch(spec.url), _host(spec)
    if parts is None:
        return NoAddress(Reason.INVALID_URL, f"spec.url: {spec.url} is not http or https, a host and a path")
    for field, name in {"spec.url": host, "spec.host": spec.host or ""}.items():
        if is_own(name, gateway.own_hosts if gateway else ()):
            return NoAddress(Reason.INVALID_HOST, f"{field}: {name} is the gateway itself. Name another host.")
    refused = _refused_host(request, spec, gateway, int(parts[3] or PORTS[parts[1]]))
    if refused:
        field, name, why = refused
        remedy = "Name another, or let spec.endpointHosts of InferenceGateway default allow it"
        return NoAddress(Reason.INVALID_HOST, f"{field}: the host {name} {why}. {remedy}.")
    provider = Provider(
        host=host,
        is_ip=is_ip(host),
        port=int(parts[3] or PORTS[parts[1]]),
        tls=parts[1] == "https",
        authority=spec.host or host,
        server_name=(spec.tls and spec.tls.serverName) or spec.host or host,
        root=_root(parts[4] or "", spec.rewritePath or ""),
    )
    wrong = _unusable(spec, provider, "spec.url" if parts[4] else "spec.rewritePath")
    return NoAddress(Reason.INVALID_URL, wrong) if wrong else provider


def _unusable(spec: ModelEndpointSpec, provider: Provider, path_field: str) -> str:
    """Return what Envoy Gateway or Envoy would not accept of a provider, "" if they accept it."""
    if not is_dns_name(provider.host):
        why = f"the host {provider.host} is neither a DNS name nor an IPv4 address"
        return f"spec.url: {why}. Give the provider a DNS name."
    if is_ip(provider.authority):
        why = f"{provider.host} is an address, which Envoy Gateway does not send as the Host header"
        return f"spec.url: {why}. Set spec.host to a name, that of its certificate with TLS."
    if provider.tls and not is_dns_name(provider.server_name):
        field = "spec.tls.serverName" if spec.tls and spec.tls.serverName else "spec.host"
        why = f"{provider.server_name} is no DNS name, whose parts between dots have at most 63 characters"
        return f"{field}: {why}. Set it to the name in the certificate."
    if not PATH.fullmatch(provider.root):
        return f"{path_field}: the path has a control character, or more than 1024 characters. Correct it."
    return ""


def _root(path: str, rewrite: str) -> str:
    """Return the path that replaces /v1: the URL's, or the older rewritePath followed by `v1`."""
    prefix = rewrite.strip("/")
    return path.rstrip("/") or (f"/{prefix}{_API}" if prefix else _API)

"""The objects of an external provider, ordered so that its route never refers to an object that does not exist."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from modelplane.api.modelendpoint import ModelEndpointSpec
from modelplane.compose_endpoint.external_inputs import AUTHORIZATION, BACKEND, PATH, UNSENT, ExternalInputs
from modelplane.compose_endpoint.part_names import endpoint_part
from modelplane.compose_endpoint.route_owner import ROUTE, outlive_route
from modelplane.composing.hold import held, hold_all
from modelplane.composing.references import ordered
from modelplane.kube.gateway.provider import (
    CREDENTIAL_KEY,
    ProviderRoute,
    escape_commands,
    model_filter,
    provider_backend,
    provider_filter,
    provider_route,
    provider_secret,
)
from modelplane.model.names import CA_KEY, endpoint_hostname
from modelplane.model.routing import Provider
from modelplane.observed.fields import mapping, mappings, text
from modelplane.step import Manifest, Request
from modelplane.step.sealed import Sealed

#: Composition resource names.
_MODEL: Final = "model"
_CREDENTIAL: Final = "credential"
_FILTER: Final = "filter"
_AUTHORITY: Final = "authority"
#: Which object refers to which, besides the route, which needs all of them.
_REFERENCES: Final = {_FILTER: _CREDENTIAL, BACKEND: _AUTHORITY}


def _fixed(
    request: Request, spec: ModelEndpointSpec, provider: Provider, inputs: ExternalInputs
) -> dict[str, Manifest]:
    """Return the objects besides the route."""
    namespace = request.composite.namespace
    authority = endpoint_part(request, _AUTHORITY) if inputs.authority else None
    called = endpoint_part(request, BACKEND)
    made: dict[str, Any] = {BACKEND: provider_backend(called, namespace, provider, authority)}
    if inputs.authority:
        made[_AUTHORITY] = provider_secret(endpoint_part(request, _AUTHORITY), namespace, CA_KEY, inputs.authority)
    secret = endpoint_part(request, _CREDENTIAL) if inputs.credential else None
    if secret:
        made[_CREDENTIAL] = provider_secret(secret, namespace, CREDENTIAL_KEY, inputs.credential)
    header = spec.credential.header if spec.credential else AUTHORIZATION
    made[_FILTER] = provider_filter(endpoint_part(request, _FILTER), namespace, secret, header)
    if spec.model:
        called, route = endpoint_part(request, _MODEL), endpoint_part(request, ROUTE)
        made[_MODEL] = model_filter(called, namespace, route, spec.model)
    return made


def _route(request: Request, spec: ModelEndpointSpec, provider: Provider) -> Manifest:
    endpoint = request.composite
    return provider_route(
        ProviderRoute(
            name=endpoint_part(request, ROUTE),
            namespace=endpoint.namespace,
            host=endpoint_hostname(endpoint.name, endpoint.namespace),
            backend=endpoint_part(request, BACKEND),
            filter=endpoint_part(request, _FILTER),
            credential_header=spec.credential.header if spec.credential else None,
            headers={name: value for name, value in (spec.headers or {}).items() if not UNSENT.fullmatch(name)},
        ),
        provider,
    )


def compose_objects(
    request: Request, spec: ModelEndpointSpec, provider: Provider, inputs: ExternalInputs
) -> Mapping[str, Manifest]:
    """Return the objects of a hand-written endpoint in this pass, by composition resource name."""
    wanted = _fixed(request, spec, provider, inputs)
    needs = {ROUTE: tuple(wanted)} | {each: {to} & wanted.keys() for each, to in _REFERENCES.items()}
    wanted[ROUTE] = _route(request, spec, provider)
    return outlive_route(request, ordered(wanted, needs, request.observed, hold_objects(request)))


def hold_objects(request: Request) -> dict[str, Manifest]:
    """Return every observed object held, by composition resource name; the route without anything that blocks Envoy."""
    return {name: body for name, body in hold_all(request).items() if name != ROUTE} | _held_route(request)


def _held_route(request: Request) -> dict[str, Manifest]:
    """Return the observed route held; none if Envoy Gateway does not accept its path.

    An earlier version composed such paths, certificates that cannot be parsed, and headers in which a percent sign
    starts a command of Envoy's. With any of them the gateway accepts no further changes of some or all teams. Without
    its route an endpoint answers 503.
    """
    route, secret = request.observed.get(ROUTE), request.observed.get(_AUTHORITY)
    authority = mapping(secret.body.get("data")).get(CA_KEY) if secret else None
    if route is None or (isinstance(authority, Sealed) and authority.authority() is None):
        return {}
    body = held(route.body)
    spec = mapping(body.get("spec"))
    rules = [_escaped(rule) for rule in mappings(spec.get("rules"))]
    if not all(map(PATH.fullmatch, _paths(rules))):
        return {}
    return {ROUTE: {**body, "spec": {**spec, "rules": rules}}}


def _paths(rules: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the paths that replace /v1."""
    for rule in rules:
        for each in mappings(rule.get("filters")):
            path = text(mapping(mapping(each.get("urlRewrite")).get("path")).get("replacePrefixMatch"))
            if path:
                yield path


def _escaped(rule: Mapping[str, Any]) -> dict[str, Any]:
    """Return a rule without Envoy's commands in the values of headers that it sets."""
    filters = []
    for each in mappings(rule.get("filters")):
        modifier = mapping(each.get("requestHeaderModifier"))
        fixed = [{**of, "value": _literal(text(of.get("value")))} for of in mappings(modifier.get("set"))]
        filters.append({**each, "requestHeaderModifier": {**modifier, "set": fixed}} if fixed else each)
    return {**rule, "filters": filters}


def _literal(value: str) -> str:
    """Return a header's value escaped, unless it is already: an escaped one has no single percent sign."""
    return escape_commands(value) if "%" in value.replace("%%", "") else value

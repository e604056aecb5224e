"""The objects of an external provider, in an order in which its route never refers to what does not exist."""

from collections.abc import Mapping
from typing import Any, Final

from modelplane.api.modelendpoint import ModelEndpointSpec
from modelplane.compose_endpoint.external_inputs import AUTHORIZATION, ExternalInputs
from modelplane.composing.hold import held
from modelplane.kube.gateway.provider import (
    CREDENTIAL_KEY,
    ProviderRoute,
    model_filter,
    provider_backend,
    provider_filter,
    provider_route,
    provider_secret,
)
from modelplane.model.names import CA_KEY, endpoint_hostname, endpoint_object
from modelplane.model.routing import Provider
from modelplane.step import Manifest, Object, Request

#: Composition resource names.
ROUTE: Final = "route"
_BACKEND: Final = "backend"
_MODEL: Final = "model"
_CREDENTIAL: Final = "credential"
_FILTER: Final = "filter"
_AUTHORITY: Final = "authority"
#: What refers to what, the first from the last: one that goes stays while what refers to it is there.
_REFERENCES: Final = ((ROUTE, _FILTER), (_FILTER, _CREDENTIAL), (_BACKEND, _AUTHORITY))


def _name(endpoint: Object, part: str) -> str:
    return endpoint_object(endpoint.name, endpoint.namespace, part)


def _fixed(
    endpoint: Object, spec: ModelEndpointSpec, provider: Provider, inputs: ExternalInputs
) -> dict[str, Manifest]:
    """Return what there is beside the route."""
    namespace = endpoint.namespace
    authority = _name(endpoint, _AUTHORITY) if inputs.authority else None
    made: dict[str, Any] = {_BACKEND: provider_backend(_name(endpoint, _BACKEND), namespace, provider, authority)}
    if inputs.authority:
        made[_AUTHORITY] = provider_secret(_name(endpoint, _AUTHORITY), namespace, CA_KEY, inputs.authority)
    secret = _name(endpoint, _CREDENTIAL) if inputs.credential else None
    if secret:
        made[_CREDENTIAL] = provider_secret(secret, namespace, CREDENTIAL_KEY, inputs.credential)
    header = spec.credential.header if spec.credential else AUTHORIZATION
    made[_FILTER] = provider_filter(_name(endpoint, _FILTER), namespace, secret, header)
    if spec.model:
        made[_MODEL] = model_filter(_name(endpoint, _MODEL), namespace, _name(endpoint, ROUTE), spec.model)
    return made


def _route(endpoint: Object, spec: ModelEndpointSpec, provider: Provider) -> Manifest:
    return provider_route(
        ProviderRoute(
            name=_name(endpoint, ROUTE),
            namespace=endpoint.namespace,
            host=endpoint_hostname(endpoint.name, endpoint.namespace),
            backend=_name(endpoint, _BACKEND),
            filter=_name(endpoint, _FILTER),
            credential_header=spec.credential.header if spec.credential else None,
            headers=spec.headers or {},
        ),
        provider,
    )


def compose_objects(
    request: Request, spec: ModelEndpointSpec, provider: Provider, inputs: ExternalInputs
) -> Mapping[str, Manifest]:
    """Return what an endpoint by hand composes in this pass, by composition resource name."""
    observed = request.observed
    wanted = _fixed(request.composite, spec, provider, inputs)
    complete = wanted.keys() <= observed.keys()
    wanted[ROUTE] = _route(request.composite, spec, provider)
    made = {**wanted}
    # What refers to another comes, and changes, after that is there.
    for referrer, referred in reversed(_REFERENCES):
        if referrer in wanted and referred in wanted and referred not in observed:
            made.pop(referrer)
            if referrer in observed:
                made[referrer] = held(observed[referrer].body)
        if referred not in wanted and referred in observed and _refers(observed.get(referrer), observed[referred]):
            made[referred] = held(observed[referred].body)
    if not complete:
        made.pop(ROUTE, None)
        if ROUTE in observed:
            made[ROUTE] = held(observed[ROUTE].body)
    return made


def _refers(referrer: Object | None, referred: Object) -> bool:
    """Tell whether an observed object names another: names of parts are unique."""
    return referrer is not None and _names(referrer.body.get("spec"), referred.name)


def _names(value: Any, name: str) -> bool:
    if isinstance(value, Mapping):
        return any(_names(each, name) for each in value.values())
    return any(_names(each, name) for each in value) if isinstance(value, list) else value == name

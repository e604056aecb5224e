"""What a ModelService reports: address, counts, and conditions."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from modelplane.api.modelservice import ModelServiceSpec
from modelplane.compose_endpoint import service_access
from modelplane.compose_endpoint.route_owner import ROUTE
from modelplane.compose_endpoint.service_access import Access, access_of, published_keys
from modelplane.compose_endpoint.service_inputs import ServiceInputs, observed_backends
from modelplane.compose_endpoint.service_objects import POLICY
from modelplane.composing import hold
from modelplane.composing.messages import sentences
from modelplane.model.conditions import Condition, Reason, ServiceCondition, Status
from modelplane.model.routing import Endpoint, EndpointState
from modelplane.observed.fields import mapping, text
from modelplane.observed.gateway import is_accepted, rejection, unaccepted_change
from modelplane.observed.service import OPEN, OPENED
from modelplane.routing.listing import matches
from modelplane.step import Object, Request

#: The status fields that are kept while inputs are missing.
#: Most endpoints of an entry that its status lists.
ENDPOINTS_SHOWN: Final = 64
#: The states of endpoints that take requests.
_TAKING: Final = frozenset({EndpointState.SERVING, EndpointState.LAST_RESORT})

#: Why endpoints in other states take none; NO_ROOM is reported for the entry.
_OUT: Final = {
    EndpointState.NOT_READY: "not ready, see the conditions of the ModelReplica or ModelEndpoint",
    EndpointState.NO_ADDRESS: "no address yet, see RoutingReady of the ModelEndpoint",
    EndpointState.LEAVING: "ending",
    EndpointState.FEW_COPIES: "fewer than half of the copies serve, and another endpoint of the entry has all",
}
#: Most endpoints that a sentence names.
_NAMED: Final = 3

_KEYS_REMOVED: Final = (
    "Callers need no key any more: an edit has removed all keys of spec.keys. If that was not wanted, add them again; "
    "kubectl apply of a manifest without them removes them"
)
_NO_AUTHORITY: Final = (
    "InferenceGateway default has published no CA in status.caBundle, and endpoints are reached by mutual TLS. Look at "
    "its condition ControllerReady."
)


def _listed(states: Mapping[str, EndpointState]) -> list[dict[str, str]]:
    """Return the endpoints of an entry with their states, those that take no requests first."""
    order = sorted(states, key=lambda name: (states[name] in _TAKING, name))
    return [{"name": name, "state": states[name].value} for name in order[:ENDPOINTS_SHOWN]]


def _serves(endpoint: Endpoint, inputs: ServiceInputs) -> bool:
    return endpoint.ready and endpoint.address in inputs.listed


def _count(endpoints: Iterable[Endpoint], inputs: ServiceInputs) -> dict[str, int]:
    found = list(endpoints)
    return {"total": len(found), "ready": sum(_serves(each, inputs) for each in found)}


def status(request: Request, spec: ModelServiceSpec, inputs: ServiceInputs) -> dict[str, Any]:
    """Return the complete status; the last address stays while the gateway publishes none."""
    service = request.composite
    url = inputs.gateway.url if inputs.gateway else ""
    last = text(mapping(service.body.get("status")).get("address"))
    address = f"{url}/{service.namespace}/{service.name}" if url else last
    entries = [
        {
            **({"name": entry.name} if entry.name else {}),
            "weight": entry.weight,
            "priority": entry.priority,
            **_count(of_entry, inputs),
            "endpoints": _listed(states),
        }
        for entry, of_entry, states in zip(spec.endpoints, inputs.selected, inputs.states, strict=True)
    ]
    total = _count((each for of_entry in inputs.selected for each in of_entry), inputs)
    total |= {} if inputs.ejected is None else {"ejected": inputs.ejected}
    keys = published_keys(request, spec, inputs)
    found = {"model": f"{service.namespace}/{service.name}", "keys": keys, "endpoints": total, "entries": entries}
    return found | _reached_at(address)


def last_status(service: Object) -> dict[str, Any]:
    """Return the published status, with the URL, which earlier versions did not publish."""
    last = hold.last_status(service)
    return last | _reached_at(text(last.get("address")))


def _reached_at(address: str) -> dict[str, str]:
    """Return `status.address` and the base URL for clients, nothing while there is no address."""
    return {"url": f"{address}/v1", "address": address} if address else {}


def endpoints_resolved(service: Object, inputs: ServiceInputs) -> Condition:
    """Return EndpointsResolved: whether a ready endpoint matches, and which endpoints are left out."""
    every = [each for of_entry in inputs.selected for each in of_entry]
    ready, kind = sum(each.ready for each in every), ServiceCondition.ENDPOINTS_RESOLVED
    notes = [f"{ready} of {len(every)} endpoints are ready", *_out(inputs)]
    notes += [_ejected(inputs), *_unmatched(service.namespace, inputs), *_left_out(inputs), _without_own_names(inputs)]
    if ready:
        return Condition(kind, Status.TRUE, Reason.RESOLVED, sentences(*notes))
    if not every:
        wanted = f"no ModelEndpoint of namespace {service.namespace} has the labels of a selector in spec.endpoints"
        return Condition(kind, Status.FALSE, Reason.NO_ENDPOINTS, sentences(wanted, "Requests are answered with 503"))
    instead = (
        f"Requests go on to the {len(inputs.listed)} that were last in use"
        if inputs.listed
        else "Requests are answered with 503"
    )
    return Condition(kind, Status.FALSE, Reason.NO_ENDPOINTS, sentences(*notes, instead))


def _out(inputs: ServiceInputs) -> list[str]:
    """Return a sentence for each reason why endpoints take no requests, with the names of the first endpoints."""
    found: dict[EndpointState, set[str]] = {}
    for states in inputs.states:
        for name, state in states.items():
            if state not in _TAKING:
                found.setdefault(state, set()).add(name)
    return [f"No requests go to {_some(found[state])}: {why}" for state, why in _OUT.items() if state in found]


def _ejected(inputs: ServiceInputs) -> str:
    """Return how many endpoints the gateway sends nothing to at present, or ""."""
    if not inputs.ejected:
        return ""
    return sentences(
        f"The gateway has ejected {min(inputs.ejected, len(inputs.listed))} of {len(inputs.listed)} for now: their "
        "connections failed, or they answered 502, 503 or 504 three times in a row",
        "Look at the logs of their engines",
    )


def _some(names: Iterable[str]) -> str:
    """Return up to three of the names, and the number of the others."""
    ordered = sorted(names)
    more = len(ordered) - _NAMED
    return ", ".join(ordered[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _unmatched(namespace: str, inputs: ServiceInputs) -> list[str]:
    """Return a sentence for each entry without endpoints."""
    every = [each for of_entry in inputs.selected for each in of_entry]
    found = []
    for number, (entry, of_entry) in enumerate(zip(inputs.entries, inputs.selected, strict=True)):
        if not of_entry:
            taken = any(matches(entry.selector, each.labels) for each in every)
            earlier = "what it selects counts for the entries before it"
            why = earlier if taken else f"no ModelEndpoint of namespace {namespace} has the labels of its selector"
            found.append(f"spec.endpoints[{number}] has no endpoint: {why}")
    return found


def _left_out(inputs: ServiceInputs) -> list[str]:
    """Return a sentence for each entry with more endpoints than its Backends hold."""
    places = {entry.key: number for number, entry in enumerate(inputs.entries)}
    return [
        f"spec.endpoints[{places[key]}]: {count} endpoints are left out, a service has at most 16 Backends of 256 "
        "endpoints; divide it among several services"
        for key, count in inputs.backends.left_out.items()
    ]


def _without_own_names(inputs: ServiceInputs) -> str:
    """Return that requests do not carry each engine's own name of the model: there are too many for a header; or ""."""
    if inputs.served or not any(inputs.models.values()):
        return ""
    return sentences(
        "Its endpoints serve under too many different names to put each one's own into requests to the fleet URL",
        "Name the model there, as <namespace>/<service>/<name>, or let them serve under one name",
    )


def waiting(message: str) -> Condition:
    """Return RoutingReady while a prerequisite is missing."""
    return Condition(ServiceCondition.ROUTING_READY, Status.FALSE, Reason.WAITING_FOR_GATEWAY, message)


def routing_ready(request: Request, spec: ModelServiceSpec, inputs: ServiceInputs) -> Condition:
    """Return RoutingReady: whether the gateway has accepted the service's objects."""
    kind, route = ServiceCondition.ROUTING_READY, request.observed.get(ROUTE)
    parts = {"HTTPRoute": route, **{f"Backend {each.name}": each for each in observed_backends(request).values()}}
    refused = [f"{name}: {why}" for name, each in parts.items() if each and (why := rejection(each))]
    if refused:
        return Condition(kind, Status.FALSE, Reason.BACKEND_REJECTED, "; ".join(refused))
    policies = filter(None, map(request.observed.get, (POLICY, service_access.POLICY)))
    refused = [f"{each.kind} {each.name}: {why}" for each in policies if (why := rejection(each))]
    if refused:
        return Condition(kind, Status.FALSE, Reason.POLICY_REJECTED, "; ".join(refused))
    if route is None and _lacks_authority(inputs):
        return waiting(_NO_AUTHORITY)
    if route is None or not is_accepted(route):
        return Condition(kind, Status.FALSE, Reason.CONFIGURING, "the gateway has not accepted the HTTPRoute yet")
    unfinished = _unchecked(request, spec, inputs) or _unaccepted(route)
    if unfinished:
        return unfinished
    equal = "With spec.affinity every endpoint has the same share, whatever its entry's weight" if spec.affinity else ""
    keys = published_keys(request, spec, inputs)
    unlocked = {OPEN: "Callers need no key", OPENED: _KEYS_REMOVED}.get(keys, "")
    return Condition(kind, Status.TRUE, Reason.ROUTE_CONFIGURED, sentences(unlocked, equal))


def _lacks_authority(inputs: ServiceInputs) -> bool:
    secured = any(plan.mutual_tls for plan in inputs.backends.plans)
    return secured and not (inputs.gateway and inputs.gateway.ca_bundle)


def _unaccepted(route: Object) -> Condition | None:
    """Return RoutingReady if the gateway has accepted only an older generation of the route, else None."""
    found = unaccepted_change(route)
    return Condition(ServiceCondition.ROUTING_READY, Status.FALSE, Reason.CONFIGURING, found) if found else None


def _unchecked(request: Request, spec: ModelServiceSpec, inputs: ServiceInputs) -> Condition | None:
    """Return RoutingReady if keys are configured and not all of them can be used, else None."""
    kind, keys, access = ServiceCondition.ROUTING_READY, inputs.keys, access_of(request, spec, inputs)
    effect = f"{len(keys.usable)} of {len(spec.keys or ())} keys can be used"
    refused = "Every request is answered with 401" if access is Access.CLOSED else ""
    if keys.missing or keys.invalid:
        reason = Reason.KEY_MISSING if keys.missing else Reason.KEY_INVALID
        return Condition(kind, Status.FALSE, reason, sentences(effect, *keys.missing, *keys.invalid, refused))
    if access is Access.CLOSED and not spec.keys:
        found = "InferenceGateway default has spec.requireKeys, and the service has no key"
        remedy = "Add spec.keys, or set spec.requireKeys to false to open services without keys"
        return Condition(kind, Status.FALSE, Reason.KEYS_REQUIRED, sentences(found, refused, remedy))
    if spec.keys and access is not Access.CHECKED:
        found = "the gateway does not check callers' keys yet"
        return Condition(kind, Status.FALSE, Reason.CONFIGURING, sentences(found, refused))
    return None

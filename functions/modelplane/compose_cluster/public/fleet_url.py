"""The fleet URL: its objects, the models that it lists, and whether it serves."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from modelplane.compose_cluster.public.listeners import GATEWAY
from modelplane.composing import requirements as require
from modelplane.composing.hold import held
from modelplane.composing.references import ordered
from modelplane.kube.gateway.fleet import fleet_routes, fleet_surroundings
from modelplane.kube.gateway.fleet_filter import UNSERVED
from modelplane.kube.gateway.model_list import FleetModel
from modelplane.model.names import (
    ENVOY_NAMESPACE,
    LISTENER_HTTP,
    LISTENER_INTERNAL,
    PUBLIC_GATEWAY,
    ROUTER,
    ROUTER_PAIR,
    SYSTEM_NAMESPACE,
    passed_name,
)
from modelplane.observed.fields import mapping, text
from modelplane.observed.gateway import is_accepted, is_current, listener_of, read_listeners, rejection, serves
from modelplane.observed.memo import once_per_version
from modelplane.observed.service import is_open
from modelplane.step import Manifest, Object, Request

#: The DNS name of the public gateway on the control cluster.
SERVICE_NAME: Final = f"{PUBLIC_GATEWAY}.{ENVOY_NAMESPACE}.svc.cluster.local"
#: Composition resource names begin with this.
_PART: Final = "fleet-"
_MODELS: Final = f"{_PART}models"
_GATEWAY: Final = f"{_PART}gateway"
_ROUTES: Final = (f"{_PART}route", f"{_PART}route-sent")
#: The objects that must be accepted before the URL serves.
_ACCEPTED: Final = (f"{_PART}filter", *_ROUTES)
#: Most models that are listed: Envoy holds the list in every version of its routes.
MODELS_SHOWN: Final = 1000
#: Most namespaces that are named if their models are left out of the list.
_NAMED: Final = 5
_NO_INTERNAL: Final = (
    f"The fleet URL does not serve: with spec.tls it needs the listener {LISTENER_INTERNAL} of Gateway "
    f"{SYSTEM_NAMESPACE}/{PUBLIC_GATEWAY}, which comes once cert-manager has issued Secret {ROUTER_PAIR}"
)


class _Service(NamedTuple):
    """A ModelService as it is listed: when it was created, in seconds, and whether it needs no key and is served."""

    namespace: str
    name: str
    created: int
    served: bool


@once_per_version
def _read_service(service: Object) -> _Service:
    served = is_open(service) and service.namespace != UNSERVED
    return _Service(service.namespace, service.name, _created(service), served)


def _created(service: Object) -> int:
    try:
        return int(datetime.fromisoformat(text(service.metadata.get("creationTimestamp"))).timestamp())
    except ValueError:
        return 0


def _open(services: Sequence[Object]) -> Sequence[_Service]:
    """Return the services that need no key, in the order in which they are listed if there are too many.

    The oldest service of every namespace comes first, then the second oldest of every one, and so on: no team's
    services displace another team's, and no new service an older one.
    """
    by_namespace: dict[str, list[_Service]] = {}
    for each in map(_read_service, services):
        if each.served:
            by_namespace.setdefault(each.namespace, []).append(each)
    ranks = {
        each: rank
        for there in by_namespace.values()
        for rank, each in enumerate(sorted(there, key=lambda each: (each.created, each.name)))
    }
    return sorted(ranks, key=lambda each: (ranks[each], each.namespace))


def _models(services: Sequence[Object]) -> Iterator[FleetModel]:
    """Yield the services that are listed, in the order of their names."""
    for each in sorted(_open(services)[:MODELS_SHOWN], key=lambda each: (each.namespace, each.name)):
        yield FleetModel(f"{each.namespace}/{each.name}", each.namespace, each.created)


def _is_there(listeners: Sequence[str]) -> bool:
    """Tell whether requests can be sent to the gateway again; with HTTPS that needs its internal listener."""
    return LISTENER_HTTP in listeners or LISTENER_INTERNAL in listeners


def _callers(request: Request, listeners: Sequence[str]) -> tuple[str, ...]:
    """Return the listeners that callers reach the routes at: the public one, and that of the URL that is published."""
    last = _published(request)
    before = listener_of(last)
    gateway = request.observed.get(GATEWAY)
    there = gateway is not None and serves(gateway.body, before)
    return (listeners[0], before) if last and there and before != listeners[0] else (listeners[0],)


def _published(request: Request) -> str:
    return text(mapping(request.composite.body.get("status")).get("fleetUrl"))


def _authority(request: Request, listeners: Sequence[str]) -> str | None:
    """Return the ConfigMap of the hop to the internal listener, None where requests are sent on by HTTP.

    While services attach to both listeners it is as it was: each of them is attached to that one.
    """
    backend = request.observed.get(_GATEWAY)
    internal = backend is not None and "tls" in mapping(backend.body.get("spec"))
    both = {LISTENER_HTTP, LISTENER_INTERNAL} <= {*listeners}
    return ROUTER if (internal if both else LISTENER_INTERNAL in listeners) else None


def bodies(request: Request, listeners: Sequence[str]) -> dict[str, Manifest]:
    """Return the objects of the fleet URL; its routes once everything that they refer to exists.

    `listeners` are those that services attach to, the public one first. There are no objects if requests cannot be sent
    to the gateway again; existing ones are removed after the routes.
    """
    routes = {f"{_PART}{what}": body for what, body in fleet_routes(_callers(request, listeners)).items()}
    services = request.required.get(require.services().name)
    observed = {name: found for name, found in request.observed.items() if name.startswith(_PART)}
    passed = passed_name(text(request.composite.metadata.get("uid")))
    made = fleet_surroundings(SERVICE_NAME, [*_models(services or ())], passed, _authority(request, listeners))
    around: dict[str, Manifest] = {f"{_PART}{what}": body for what, body in made.items()}
    needs = dict.fromkeys(routes, tuple(around))
    if services is None:
        around = {name: body for name, body in around.items() if name != _MODELS}
        around |= {_MODELS: held(observed[_MODELS].body)} if _MODELS in observed else {}
    return ordered({**around, **routes} if _is_there(listeners) else {}, needs, observed)


def read_url(request: Request, listeners: Sequence[str], url: str) -> str:
    """Return the base URL for clients of the fleet, "" until the gateway has accepted all of its objects.

    A published URL stays while the gateway has not reported on a change, and until the gateway has accepted the routes
    on another listener.
    """
    if not url or not _is_there(listeners):
        return ""
    parts = [request.observed.get(name) for name in _ACCEPTED]
    last, wanted = _published(request), f"{url}/v1"
    if not all(each and (is_accepted(each) or (last and not rejection(each))) for each in parts):
        return ""
    routes = [request.observed[name] for name in _ROUTES]
    moved = all(is_current(each) and listeners[0] in read_listeners(each) for each in routes)
    return wanted if moved or last in {"", wanted} else last


def unlisted(request: Request, listeners: Sequence[str]) -> str:
    """Return how many services are left out of the list of models, with their namespaces; "" for none."""
    served = _open(request.required.get(require.services().name) or ())
    counts = Counter(each.namespace for each in served[MODELS_SHOWN:])
    if not counts or not _is_there(listeners):
        return ""
    most = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    named = [f"{number} of namespace {namespace}" for namespace, number in most[:_NAMED]]
    more = f" and {len(most) - _NAMED} namespaces more" if len(most) > _NAMED else ""
    return (
        f"/v1/models of the fleet URL lists {MODELS_SHOWN} of {len(served)} services, each namespace's oldest; "
        f"requests to the others are served. It leaves out {', '.join(named)}{more}"
    )


def obstacle(request: Request, listeners: Sequence[str]) -> str:
    """Return why the fleet URL does not serve, "" if it does or nothing is known."""
    if not _is_there(listeners):
        return _NO_INTERNAL
    parts = (request.observed.get(name) for name in _ACCEPTED)
    refused = [f"{each.kind} {each.name}: {why}" for each in parts if each and (why := rejection(each))]
    return f"The fleet URL does not serve: {'; '.join(refused)}" if refused else ""

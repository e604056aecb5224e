"""The inputs of a ModelService: its entries, the endpoints that they select, and the public gateway."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from modelplane.api.modelservice import Endpoint as Entry
from modelplane.api.modelservice import ModelServiceSpec
from modelplane.compose_endpoint import service_keys
from modelplane.compose_endpoint.part_names import service_part
from modelplane.compose_endpoint.route_owner import ROUTE
from modelplane.compose_endpoint.service_keys import CallerKeys
from modelplane.composing import requirements as require
from modelplane.model.names import digest
from modelplane.model.routing import Address, Endpoint, EndpointState, PublicGateway, ServiceEntry
from modelplane.observed.endpoint import read_placed_endpoint
from modelplane.observed.gateway import read_ejections, read_gateway, read_hostnames
from modelplane.routing.backends import Backends, plan_backends
from modelplane.routing.listing import list_endpoints, select, state_of
from modelplane.routing.served import list_served
from modelplane.step import Object, Request, Requirement

#: Most selectors that are fetched separately: an endpoint that several select is sent once for each.
FETCHED_APART: Final = 2
#: The kind that entries select.
ENDPOINT = "ModelEndpoint"
#: Prefix of the composition resource names of a service's Backends.
BACKEND = "backend-"


def _entry(entry: Entry) -> ServiceEntry:
    """Return an entry with its name as key, or its selector without a name, because its position may change."""
    labels = entry.selector.matchLabels
    of_labels = digest(*(part for pair in sorted(labels.items()) for part in pair))
    return ServiceEntry(f"entry-{entry.name}" if entry.name else of_labels, labels, entry.weight, entry.priority)


@dataclass(frozen=True)
class ServiceInputs:
    """The inputs of a service. `gateway` is None if there is no InferenceGateway.

    `ejected` is how many of the endpoints the gateway has ejected, None if that is not known.
    """

    entries: tuple[ServiceEntry, ...]
    selected: tuple[tuple[Endpoint, ...], ...]
    listed: frozenset[Address]
    gateway: PublicGateway | None
    keys: CallerKeys
    ejected: int | None = None

    @cached_property
    def backends(self) -> Backends:
        """Return the desired Backends."""
        by_entry = [
            tuple(e.address for e in entry if e.address in self.listed and e.address) for entry in self.selected
        ]
        return plan_backends(self.entries, by_entry)

    @cached_property
    def _held(self) -> frozenset[Address]:
        """Return the addresses that the Backends hold."""
        return frozenset(address for plan in self.backends.plans for address in plan.endpoints)

    @cached_property
    def models(self) -> Mapping[str, str]:
        """Return the name under which the engine of each endpoint in a Backend serves, "" where it is not known."""
        return {each.name: each.model for entry in self.selected for each in entry if each.address in self._held}

    @cached_property
    def served(self) -> str:
        """Return the model names of the engines behind the Backends, in the form that clusters' gateways read."""
        return list_served(self.models)

    @cached_property
    def states(self) -> tuple[Mapping[str, EndpointState], ...]:
        """Return the states of the endpoints of each entry, by name."""
        return tuple({each.name: state_of(each, self.listed, self._held) for each in entry} for entry in self.selected)


def _ejected(request: Request) -> int | None:
    found, service = request.one(require.ejections()), request.composite
    if not isinstance(found, Object):
        return None
    return read_ejections(found, service.namespace, service_part(request, ROUTE))


def requirements(request: Request, spec: ModelServiceSpec) -> tuple[Requirement, ...]:
    """Return the requirements of a service."""
    namespace = request.composite.namespace
    keys = service_keys.requirements(spec, namespace)
    known = (require.inference_gateway(), require.ejections(), *require.definitions(request))
    return (*known, *_of_endpoints(namespace, spec.endpoints), *keys)


def _of_endpoints(namespace: str, entries: Sequence[Entry]) -> tuple[Requirement, ...]:
    """Return the requirements of the endpoints of entries; those with the same selector need it once.

    With more selectors, the labels that they have in common are fetched once, and the entries select from the result.
    So no endpoint is sent more than `FETCHED_APART` times, whatever selectors a team writes.
    """
    selectors = [entry.selector.matchLabels for entry in entries]
    wanted = {each.name: each for each in (require.endpoints(namespace, labels) for labels in selectors)}
    if len(wanted) <= FETCHED_APART:
        return tuple(wanted.values())
    common = set.intersection(*(set(labels.items()) for labels in selectors))
    return (require.endpoints(namespace, dict(sorted(common))),)


def observed_backends(request: Request) -> dict[str, Object]:
    """Return the Backends of a service as observed, by composition resource name."""
    return {name: found for name, found in request.observed.items() if name.startswith(BACKEND)}


def read_inputs(request: Request, spec: ModelServiceSpec, needs: Sequence[Requirement]) -> ServiceInputs | None:
    """Return the inputs of a service, None until they are fetched."""
    if any(each.name not in request.required for each in needs):
        return None
    found, selections = request.one(require.inference_gateway()), (each for each in needs if each.kind == ENDPOINT)
    namespace = request.composite.namespace
    read = (read_placed_endpoint(obj) for each in selections for obj in request.required[each.name])
    endpoints = {endpoint.name: endpoint for there, endpoint in read if there == namespace}
    entries = tuple(map(_entry, spec.endpoints))
    selected = select(entries, endpoints.values())
    last = frozenset[str]().union(*map(read_hostnames, observed_backends(request).values()))
    return ServiceInputs(
        entries=entries,
        selected=selected,
        listed=list_endpoints(selected, last),
        gateway=read_gateway(found) if isinstance(found, Object) else None,
        keys=service_keys.read_keys(request, spec),
        ejected=_ejected(request),
    )

"""Whatever happens to a service and wherever a pass ends, its route stays and refers to nothing that is not there."""

from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from modelplane.model.routing import Endpoint, ServiceEntry
from property.routes import address, endpoints, entries
from property.services import (
    ACCEPTED,
    Service,
    checked_secrets,
    lets_through,
    named_objects,
    references,
    references_of_backends,
)
from property.strategies import examples

_KEYS = {"keys": [{"name": each, "secretRef": {"name": "s", "key": each}} for each in ("a", "b")]}
_CORS = {"cors": {"allowOrigins": ["https://chat.example.com"]}}
_SECRETS = st.sampled_from([{}, {"s": {"a": b"1"}}, {"s": {"a": b"1", "b": b"2"}}, {"s": {"a": b"1", "b": b"1"}}])
_GATEWAYS = st.sampled_from(
    [{"url": "http://gw", "caBundle": "ca"}, {"url": "https://gw", "caBundle": "new"}, {"url": "http://gw"}, {}, None]
)
#: What may be changed between two passes, with values.
_CHANGES = st.one_of(
    st.tuples(st.just("endpoints"), endpoints(most=5)),
    st.tuples(st.just("entries"), entries(most=3)),
    st.tuples(st.just("requires_keys"), st.booleans()),
    st.tuples(st.just("gateway"), _GATEWAYS),
    st.tuples(st.just("spec"), st.sampled_from([{}, _KEYS, _CORS, {**_KEYS, **_CORS}])),
    st.tuples(st.just("secrets"), _SECRETS),
)


def _writes(service: Service, data: st.DataObject) -> Iterator[None]:
    """Carry out a pass that ends after any number of its writes, in any order, deletions first; check after each.

    Its status is written after all of them; the gateway accepts policies at any time.
    """
    if data.draw(st.booleans()):
        service.accept_policies()
    result = service.reconcile()
    desired = {name: dict(each.build()) for name, each in result.desired.items()}
    had_route = service.route is not None
    writes: list[tuple[str, Any]] = [(name, None) for name in service.store if name not in desired]
    writes += data.draw(st.permutations(sorted(desired.items())))
    end = data.draw(st.one_of(st.just(len(writes)), st.integers(0, len(writes))))
    for name, body in writes[:end]:
        if body is None:
            del service.store[name]
        else:
            service.put(name, body)
        assert service.route is not None or not had_route, "the route was taken away"
        if service.route:
            assert references(service.route) <= named_objects(service.store)
            assert references_of_backends(service.store) <= named_objects(service.store)
        assert checked_secrets(service.store) <= named_objects(service.store)
        yield
    if end == len(writes) and result.status:
        service.status = dict(result.status)


@given(st.data(), st.lists(st.lists(_CHANGES, max_size=2), min_size=3, max_size=10))
@examples(100)
def test_a_route_is_never_taken_away_and_never_refers_to_what_is_not_there(
    data: st.DataObject, changes: list[list[tuple[str, Any]]]
) -> None:
    service = Service(endpoints=data.draw(endpoints(most=4)), entries=data.draw(entries(most=3)))
    if data.draw(st.booleans()):
        service.settle()
    for change in changes:
        for field, value in change:
            setattr(service, field, value)
        for _ in _writes(service, data):
            pass


@given(endpoints(), entries(), endpoints(), entries(), st.booleans())
@examples(60)
def test_a_service_comes_to_rest_with_the_weights_of_its_entries_and_nothing_left_over(
    first_endpoints: tuple[Endpoint, ...],
    first: tuple[ServiceEntry, ...],
    then_endpoints: tuple[Endpoint, ...],
    then: tuple[ServiceEntry, ...],
    named: bool,
) -> None:
    service = Service(entries=first, endpoints=first_endpoints, named=named)
    service.settle()
    service.entries, service.endpoints = then, then_endpoints
    service.settle()
    assert service.route is not None
    backends = {b["metadata"]["name"]: b["spec"] for name, b in service.store.items() if name.startswith("backend-")}
    referred = {name for kind, name in references(service.route) if kind == "Backend"}
    assert referred == backends.keys()
    listed = [each["hostname"] for spec in backends.values() for each in spec["endpoints"]]
    assert len(listed) == len(set(listed))
    ready = {e.name for e in then_endpoints if e.ready and e.address and not e.leaving}
    matched = {e.name for e in then_endpoints for s in then if s.selector.items() <= e.labels.items()}
    if ready & matched:
        assert {host.partition(".")[0] for host in listed} == ready & matched
        rule = service.route["spec"]["rules"][0]
        assert sum(each["weight"] for each in rule["backendRefs"]) > 0
        hops = {tuple({"tls" in spec}) for spec in backends.values()}
        if len(hops) < 2:
            assert {each["weight"] for each in rule["backendRefs"]} <= {entry.weight for entry in then}


@given(st.data(), endpoints(), entries())
@examples(60)
def test_a_service_where_keys_are_required_and_none_is_named_is_never_open(
    data: st.DataObject, given_endpoints: tuple[Endpoint, ...], given_entries: tuple[ServiceEntry, ...]
) -> None:
    service = Service(entries=given_entries, endpoints=given_endpoints, requires_keys=True)
    for _ in range(6):
        for _ in _writes(service, data):
            assert not lets_through(service)


@given(st.data(), endpoints(most=5), endpoints(most=5), entries(most=3))
@examples(60)
def test_a_service_closes_in_the_pass_in_which_keys_become_required_whatever_else_it_waits_for(
    data: st.DataObject,
    first: tuple[Endpoint, ...],
    then: tuple[Endpoint, ...],
    given_entries: tuple[ServiceEntry, ...],
) -> None:
    service = Service(entries=given_entries, endpoints=first)
    service.settle()
    answers = {"route", "answer-401", "answer-404"}
    for name in data.draw(st.sets(st.sampled_from(sorted(service.store.keys() - answers)))):
        del service.store[name]
    there = named_objects(service.store)
    service.endpoints, service.requires_keys = then, True
    service.store["route"] = service.desired()["route"]
    assert not lets_through(service)
    assert references(service.store["route"]) <= there


_PAID = Endpoint("paid", {"tier": "paid"}, address("paid"), ready=True)
_OWN = tuple(Endpoint(f"own-{n}", {"tier": "own"}, address(f"own-{n}"), ready=True) for n in range(2))


def _tiers(own: str) -> tuple[ServiceEntry, ...]:
    """Return entries of two tiers, the first one under a name."""
    return (ServiceEntry(own, {"tier": "own"}), ServiceEntry("paid", {"tier": "paid"}, priority=1))


#: Changes of a service with two tiers: which of its own endpoints are ready, and the name of their entry.
_TIERED = st.one_of(
    st.tuples(st.just("endpoints"), st.sampled_from(([], _OWN[:1], _OWN[1:], _OWN)).map(lambda own: [_PAID, *own])),
    st.tuples(st.just("entries"), st.sampled_from(("own", "main")).map(_tiers)),
)


@given(st.data(), st.lists(_TIERED, min_size=1, max_size=6))
@examples(100)
def test_a_provider_takes_requests_beside_an_own_endpoint_as_its_fallback_and_alone_as_primary(
    data: st.DataObject, changes: list[tuple[str, Any]]
) -> None:
    service = Service(entries=_tiers("own"), endpoints=[_PAID, *_OWN])
    service.settle()
    for field, value in changes:
        setattr(service, field, value)
        for _ in range(data.draw(st.integers(1, 4))):
            for _ in _writes(service, data):
                fallbacks = _fallbacks(service)
                assert not all(fallbacks.values()), "there is nothing that it is the fallback of"
                assert len(fallbacks) == 1 or sum(fallbacks.values()) == 1, "it shares the requests of the first tier"
    service.settle()
    assert sorted(_fallbacks(service).values()) == ([False] if list(service.endpoints) == [_PAID] else [False, True])


def _fallbacks(service: Service) -> dict[str, bool]:
    """Return the Backends that the route refers to, and whether each is the fallback."""
    assert service.route
    referred = {name for kind, name in references(service.route) if kind == "Backend"}
    bodies = (body for body in service.store.values() if body["metadata"]["name"] in referred)
    return {body["metadata"]["name"]: body["spec"].get("fallback", False) for body in bodies}


@given(st.data(), st.lists(st.tuples(_SECRETS, st.booleans(), st.booleans()), min_size=4, max_size=10))
@examples(100)
def test_a_service_with_keys_lets_requests_through_only_while_a_policy_checks_them(
    data: st.DataObject, changes: list[tuple[dict[str, dict[str, bytes]], bool, bool]]
) -> None:
    service = Service(endpoints=data.draw(endpoints(most=4)), spec=_KEYS)
    for secrets, cors, without in changes:
        service.secrets = secrets
        service.requires_keys = without
        service.spec = {} if without else {**_KEYS, **(_CORS if cors else {})}
        before = lets_through(service)
        for _ in _writes(service, data):
            through = lets_through(service)
            assert not through or checked_secrets(service.store), "a request without a key would be let through"
            policy = service.store.get("security-policy", {})
            assert before or not through or policy.get("status") == ACCEPTED
            before = through

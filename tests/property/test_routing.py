"""What a service's requests are routed to, whatever its entries and the states of its endpoints."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from modelplane.model.routing import Address, BackendPlan, BackendReference, Endpoint, ServiceEntry
from modelplane.routing.backends import plan_backends, referable
from modelplane.routing.listing import list_endpoints, select
from modelplane.routing.served import LIMIT, list_served
from property.routes import endpoints, entries, listings, served
from property.strategies import examples

Listing = list[tuple[ServiceEntry, tuple[Address, ...]]]


def _entry(plan: BackendPlan) -> str:
    """Return the key of the entry that a Backend is of."""
    return plan.key.removeprefix("tls-").removeprefix("fallback-").rpartition("-")[0]


def _groups(addresses: tuple[Address, ...]) -> list[int]:
    """Return how many of an entry's endpoints are reached in plain and how many by mutual TLS, without zeroes."""
    secured = sum(each.mutual_tls for each in addresses)
    return [count for count in (len(addresses) - secured, secured) if count]


@given(listings())
@examples(60)
def test_a_backend_is_reached_by_mutual_tls_as_a_whole_or_not_at_all(listing: Listing) -> None:
    result = plan_backends([entry for entry, _ in listing], [addresses for _, addresses in listing])
    for plan in result.plans:
        assert {each.mutual_tls for each in plan.endpoints} == {plan.mutual_tls}


@given(entries(), endpoints())
@examples(100)
def test_an_endpoint_belongs_to_the_first_entry_that_selects_it_and_to_no_other(
    given_entries: tuple[ServiceEntry, ...], given_endpoints: tuple[Endpoint, ...]
) -> None:
    selected = select(given_entries, given_endpoints)
    for endpoint in given_endpoints:
        matching = [i for i, entry in enumerate(given_entries) if entry.selector.items() <= endpoint.labels.items()]
        assert [i for i, of_entry in enumerate(selected) if endpoint in of_entry] == matching[:1]


@given(endpoints(), st.data())
@examples(200)
def test_an_endpoint_that_is_not_ready_is_listed_only_where_none_is_ready_it_was_listed_and_nobody_switched_it_off(
    given_endpoints: tuple[Endpoint, ...], data: st.DataObject
) -> None:
    reached = {each.address: each for each in given_endpoints if each.address}
    last = data.draw(st.sets(st.sampled_from(list(reached)))) if reached else set()
    listed = list_endpoints([given_endpoints], {each.hostname for each in last})
    ready = [each for each in reached.values() if each.ready]
    for address in listed:
        assert reached[address].ready or (not ready and address in last and not reached[address].is_off)
        assert not reached[address].leaving or all(each.leaving for each in ready)
    assert bool(listed) == bool(ready or any(not reached[each].is_off for each in last))


@given(listings())
@examples(60)
def test_backends_stay_within_the_limits_of_the_gateway(listing: Listing) -> None:
    planned = plan_backends([entry for entry, _ in listing], [addresses for _, addresses in listing]).plans
    assert len(planned) <= 16
    assert all(1 <= len(plan.endpoints) <= 256 and 1 <= plan.weight <= 1_000_000 for plan in planned)
    assert len({plan.key for plan in planned}) == len(planned)


@given(listings())
@examples(60)
def test_every_endpoint_is_in_one_backend_or_counted_as_left_out(listing: Listing) -> None:
    result = plan_backends([entry for entry, _ in listing], [addresses for _, addresses in listing])
    for entry, addresses in listing:
        held = [each for plan in result.plans if _entry(plan) == entry.key for each in plan.endpoints]
        assert len(held) == len(set(held))
        assert set(held) <= set(addresses)
        assert len(addresses) - len(held) == result.left_out.get(entry.key, 0)
        assert held or not addresses, "no entry is left out as a whole"
    needed = sum(-(-count // 256) for _, addresses in listing for count in _groups(addresses))
    assert bool(result.left_out) == (needed > 16)


@given(listings())
@examples(60)
def test_each_entry_has_the_share_of_its_weight_and_its_endpoints_share_it_evenly(listing: Listing) -> None:
    result = plan_backends([entry for entry, _ in listing], [addresses for _, addresses in listing])
    total, present = sum(plan.weight for plan in result.plans), [entry for entry, listed in listing if listed]
    # A weight is rounded by at most 1 where the largest is a million.
    tolerance = Fraction(32, 1_000_000)
    for entry in present:
        parts = [plan for plan in result.plans if _entry(plan) == entry.key]
        share = Fraction(sum(part.weight for part in parts), total)
        assert abs(share - Fraction(entry.weight, sum(each.weight for each in present))) <= tolerance
        for secured in (False, True):
            sizes = [len(part.endpoints) for part in parts if part.mutual_tls is secured]
            assert max(sizes, default=0) - min(sizes, default=0) <= 1
        for part in parts:
            even = Fraction(len(part.endpoints), sum(len(each.endpoints) for each in parts)) * share
            assert abs(Fraction(part.weight, total) - even) <= tolerance
    if all(len(listed) <= 256 and len(_groups(listed)) < 2 for _, listed in listing):
        assert [plan.weight for plan in result.plans] == [entry.weight for entry in present]


@given(listings())
@examples(60)
def test_the_fallback_tier_is_one_only_beside_a_primary_endpoint(listing: Listing) -> None:
    planned = plan_backends([entry for entry, _ in listing], [addresses for _, addresses in listing]).plans
    fallback = {entry.key for entry, _ in listing if entry.priority}
    primary = any(_entry(plan) not in fallback for plan in planned)
    for plan in planned:
        assert plan.fallback == (primary and _entry(plan) in fallback)


_REFERENCES = st.lists(
    st.builds(BackendReference, st.sampled_from("abcdef"), st.integers(1, 9)), unique_by=lambda each: each.name
)


@given(_REFERENCES, _REFERENCES, st.sets(st.sampled_from("abcdef")))
@examples(200)
def test_a_route_refers_to_what_is_observed_alone_and_to_something_while_it_can(
    wanted: list[BackendReference], routed: list[BackendReference], observed: set[str]
) -> None:
    found = referable(wanted, routed, observed)
    assert {each.name for each in found} <= observed
    assert set(found) <= {*wanted, *routed}
    if {each.name for each in wanted} <= observed:
        assert found == tuple(wanted)
    elif observed & {each.name for each in (*wanted, *routed)}:
        assert found


@given(served())
@examples(200)
def test_each_endpoint_finds_its_own_name_of_the_model_or_that_it_is_not_known(names: dict[str, str]) -> None:
    header = list_served(names)
    assert len(header) <= LIMIT
    most, *others = header.split(" ")
    found = dict.fromkeys(names, most)
    for word in others:
        name, _, listed = word.partition("=")
        found |= dict.fromkeys(listed.split(","), name)
    if any(names.values()) and header:
        assert found == {endpoint: name or "-" for endpoint, name in names.items()}
    else:
        assert len("".join(names)) > LIMIT / 2 or not any(names.values())

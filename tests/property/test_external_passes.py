"""Wherever a pass of an endpoint by hand ends, nothing of it refers to what is not there."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from property.externals import CERTIFICATE, External
from property.services import bare, named_objects, references
from property.strategies import examples

_CREDENTIAL = {"credential": {"secretRef": {"name": "s", "key": "k"}, "header": "Authorization"}}
_TLS = {"tls": {"caSecretRef": {"name": "s", "key": "ca"}}}
_PARTS = st.sets(st.sampled_from(("credential", "tls", "model")))
_HELD = {"s": {"k": b"1", "ca": CERTIFICATE}}
_SECRETS = st.sampled_from([{}, _HELD, _HELD, {"s": {"k": b"1", "ca": b"no certificate"}}])


def _spec(parts: set[str]) -> dict[str, Any]:
    found: dict[str, Any] = {"url": "https://api.example.com/v1"}
    found |= _CREDENTIAL if "credential" in parts else {}
    found |= _TLS if "tls" in parts else {}
    return found | ({"model": "m"} if "model" in parts else {})


def _secrets_named(external: External) -> set[tuple[str, str]]:
    """Return the Secrets that filters and Backends name."""
    found = set()
    for body in external.store.values():
        injection = body.get("spec", {}).get("credentialInjection")
        found |= {("Secret", injection["credential"]["valueRef"]["name"])} if injection else set()
        found |= {("Secret", each["name"]) for each in body.get("spec", {}).get("tls", {}).get("caCertificateRefs", ())}
    return found


@given(st.data(), st.lists(st.tuples(_PARTS, _SECRETS), min_size=3, max_size=8))
@examples(100)
def test_an_endpoint_by_hand_never_refers_to_what_is_not_there_and_keeps_its_route(
    data: st.DataObject, changes: list[tuple[set[str], dict[str, dict[str, bytes]]]]
) -> None:
    external = External()
    for parts, secrets in changes:
        external.spec, external.secrets = _spec(parts), secrets
        wanted, had_route = external.desired(), "route" in external.store
        writes: list[tuple[str, Any]] = [(name, None) for name in external.store if name not in wanted]
        writes += data.draw(st.permutations(sorted(wanted.items())))
        for name, body in writes[: data.draw(st.integers(0, len(writes)))]:
            if body is None:
                del external.store[name]
            else:
                external.store[name] = body
            there = named_objects(external.store)
            assert _secrets_named(external) <= there
            if "route" in external.store:
                assert references(external.store["route"]) <= there
            assert "route" in external.store or not had_route


@given(_PARTS, _PARTS)
@examples(50)
def test_an_endpoint_by_hand_comes_to_rest_with_what_it_asks_for_and_nothing_left_over(
    first: set[str], then: set[str]
) -> None:
    external = External(spec=_spec(first), secrets=_HELD)
    external.settle()
    external.spec = _spec(then)
    external.settle()
    expected = External(spec=_spec(then), secrets=_HELD)
    expected.settle()
    assert {name: bare(body) for name, body in external.store.items()} == expected.store

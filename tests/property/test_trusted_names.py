"""Names that policies trust: for any text that a team chooses they end in what is reserved, and no two are equal."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given

from modelplane.model.names import NAME_LIMIT, endpoint_object, engine_name, picker_name, service_object
from property.object_names import Place, labels, names, parts, places

RESERVED = re.compile(r"-mp-[0-9a-f]{16}$")
LEGAL = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")
Named = Callable[[str, str, str], str]


@pytest.mark.parametrize("named", [service_object, endpoint_object])
@given(name=names, namespace=labels, part=parts)
def test_the_name_of_a_part_is_reserved_whatever_the_composite_is_called(
    named: Named, name: str, namespace: str, part: str
) -> None:
    found = named(name, namespace, part)
    assert RESERVED.search(found)
    assert LEGAL.fullmatch(found)
    assert len(found) <= NAME_LIMIT


@given(one=names, other=names, namespace=labels, part=parts, another=parts)
def test_parts_of_different_composites_or_of_one_have_different_names(
    one: str, other: str, namespace: str, part: str, another: str
) -> None:
    keys = {(named, name, each) for named in (0, 1) for name in (one, other) for each in (part, another)}
    kinds: tuple[Named, Named] = (service_object, endpoint_object)
    assert len({kinds[named](name, namespace, each) for named, name, each in keys}) == len(keys)


@given(replica=labels, other=labels, engine=labels, namespace=labels)
def test_no_engine_of_any_replica_has_the_name_of_a_picker(
    replica: str, other: str, engine: str, namespace: str
) -> None:
    picker, found = picker_name(namespace, replica), engine_name(namespace, other, engine)
    of_today, of_earlier_versions = r"-[0-9a-f]{16}$", r"-[0-9a-f]{8}$"
    assert re.search(of_today, picker)
    assert not re.search(of_today, found)
    assert not re.search(of_earlier_versions, found)
    for name in (picker, found):
        assert re.fullmatch(r"[a-z]([-a-z0-9]*)", name)
        assert len(name) <= 49


@given(place=places, other=places)
def test_engines_of_different_places_have_different_names_of_68_bits(place: Place, other: Place) -> None:
    assert re.search(r"-[0-9a-f]{17}$", engine_name(*place))
    assert (engine_name(*place) == engine_name(*other)) == (place == other)

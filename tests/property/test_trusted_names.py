"""Names that policies trust: for any text that a team chooses they end in what is reserved, and no two are equal."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given

from modelplane.model.names import NAME_LIMIT, endpoint_object, picker_name, service_object, workload_name
from property.object_names import labels, names, parts

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
    picker = picker_name(namespace, replica)
    assert re.fullmatch(r"[a-z]([-a-z0-9]*)-[0-9a-f]{16}", picker)
    assert len(picker) <= 49
    assert not re.search(r"-[0-9a-f]{8}$", picker)
    assert re.search(r"-[0-9a-f]{8}$", workload_name(f"{other}-{engine}", namespace, other, engine))

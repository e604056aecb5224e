"""Declared devices: what a manifest must hold, and what makes a device not evaluable."""

from collections.abc import Callable
from typing import Any

import pytest

from modelplane import cel
from modelplane.cel.spelling import spell_quantity, spell_version
from modelplane.model.fleet import Attribute, ClaimKind, Device

DRIVER = "gpu.nvidia.com"


def device(
    attributes: dict[str, Any] | None = None, capacity: dict[str, str] | None = None, driver: str = DRIVER
) -> Device:
    return cel.read(
        {
            "driver": driver,
            "attributes": attributes or {},
            "capacity": {name: {"value": value} for name, value in (capacity or {}).items()},
        }
    )


def test_a_manifest_reads_as_a_device() -> None:
    manifest = {
        "name": "gpu",
        "driver": DRIVER,
        "deviceClassName": "gpu.nvidia.com",
        "count": 8,
        "claim": "Synthetic",
        "attributes": {"b": {"bool": False}, "a": {"version": "1.2.3", "string": None}},
        "capacity": {"memory": {"value": "80Gi"}},
        "allowMultipleAllocations": True,
    }
    assert cel.read(manifest) == Device(
        name="gpu",
        driver=DRIVER,
        device_class="gpu.nvidia.com",
        count=8,
        claim=ClaimKind.SYNTHETIC,
        attributes=(Attribute("a", "version", "1.2.3"), Attribute("b", "bool", value=False)),
        capacity=(("memory", "80Gi"),),
        allow_multiple_allocations=True,
    )


@pytest.mark.parametrize(
    ("manifest", "field"),
    [
        (None, ""),
        ([], ""),
        ({}, "driver"),
        ({"driver": 1}, "driver"),
        ({"driver": DRIVER, "claim": "Maybe"}, "claim"),
        ({"driver": DRIVER, "claim": []}, "claim"),
        ({"driver": DRIVER, "count": "1"}, "count"),
        ({"driver": DRIVER, "count": True}, "count"),
        ({"driver": DRIVER, "allowMultipleAllocations": "yes"}, "allowMultipleAllocations"),
        ({"driver": DRIVER, "attributes": []}, "attributes"),
        ({"driver": DRIVER, "attributes": {1: {"int": 1}}}, "attributes"),
        ({"driver": DRIVER, "attributes": {"a": 1}}, "attributes[a]"),
        ({"driver": DRIVER, "attributes": {"a": {}}}, "attributes[a]"),
        ({"driver": DRIVER, "attributes": {"a": {"int": 1, "bool": True}}}, "attributes[a]"),
        ({"driver": DRIVER, "attributes": {"a": {"float": 1.5}}}, "attributes[a]"),
        ({"driver": DRIVER, "attributes": {"a": {"int": True}}}, "attributes[a]"),
        ({"driver": DRIVER, "attributes": {"a": {"int": 2**63}}}, "attributes[a]"),
        ({"driver": DRIVER, "attributes": {"a": {"version": 1}}}, "attributes[a]"),
        ({"driver": DRIVER, "capacity": "x"}, "capacity"),
        ({"driver": DRIVER, "capacity": {"m": "80Gi"}}, "capacity[m]"),
        ({"driver": DRIVER, "capacity": {"m": {"value": 80}}}, "capacity[m]"),
    ],
)
def test_a_malformed_manifest_is_refused_by_field(manifest: object, field: str) -> None:
    with pytest.raises(cel.DeviceError) as caught:
        cel.read(manifest)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("declared", "field", "value"),
    [
        (device({"v": {"version": "1.2"}}), "attributes[v]", "1.2"),
        (device({"v": {"version": "v1.2.3"}}), "attributes[v]", "v1.2.3"),
        (device(capacity={"m": "80GB"}), "capacity[m]", "80GB"),
        (device(capacity={"m": "1e1000"}), "capacity[m]", "1e1000"),
        (device({"x": {"int": 1}, f"{DRIVER}/x": {"int": 2}}), "attributes[x]", f"{DRIVER}/x"),
        (device(capacity={"x": "1", f"{DRIVER}/x": "1"}), "capacity[x]", f"{DRIVER}/x"),
        (device({"a-b": {"int": 1}}), "attributes[a-b]", "a-b"),
        (device({"": {"int": 1}}), "attributes[]", ""),
        (device({"1a": {"int": 1}}), "attributes[1a]", "1a"),
        (device({"a/b/c": {"int": 1}}), "attributes[a/b/c]", "b/c"),
        (device({"/b": {"int": 1}}), "attributes[/b]", "DNS"),
        (device({"_.com/b": {"int": 1}}), "attributes[_.com/b]", "_.com"),
        (device({"a" * 33: {"int": 1}}), f"attributes[{'a' * 33}]", "a" * 33),
        (device(capacity={"a.b/c-d": "1"}), "capacity[a.b/c-d]", "c-d"),
        (device(driver="not a driver"), "driver", "not a driver"),
        (device(driver="a" * 64), "driver", "a" * 64),
        (device({"s": {"string": "\ud800"}}), "attributes[s]", "\\ud800"),
    ],
)
def test_a_problem_names_the_field_and_the_value(declared: Device, field: str, value: str) -> None:
    (problem,) = cel.problems(declared)
    assert problem.startswith(f"{field}: ")
    assert value in problem


def test_every_problem_of_a_device_is_reported() -> None:
    found = cel.problems(device({"v": {"version": "1"}, "a-b": {"int": 1}}, {"m": "x"}))
    assert [problem.split(":")[0] for problem in found] == ["attributes[a-b]", "attributes[v]", "capacity[m]"]


def test_a_sound_device_has_no_problems() -> None:
    assert (
        cel.problems(device({"modelplane.ai/tier": {"string": "f"}, "v": {"version": "1.2.3-rc.1+b"}}, {"m": "1.5Ti"}))
        == ()
    )


def test_a_device_with_problems_is_an_error_for_every_selector() -> None:
    verdict = cel.compile("true").evaluate(device({"v": {"version": "1"}}))
    assert verdict.outcome is cel.Outcome.ERROR
    assert "attributes[v]" in (verdict.why or "")


#: A quantity or version as people write it, and what to write in its place; "" where that cannot be told.
SPELLINGS = [
    (spell_quantity, "80GB", "; write 80G, or 80Gi for powers of 1024"),
    (spell_quantity, "80 GiB", "; write 80Gi"),
    (spell_quantity, "80gi", "; write 80Gi"),
    (spell_quantity, "1.5tb", "; write 1.5T, or 1.5Ti for powers of 1024"),
    (spell_quantity, "64KB", "; write 64k, or 64Ki for powers of 1024"),
    (spell_quantity, "much", ""),
    (spell_quantity, "80GBs", ""),
    (spell_quantity, "", ""),
    (spell_version, "8.9", "; write 8.9.0"),
    (spell_version, "v12", "; write 12.0.0"),
    (spell_version, "12.04.1", "; write 12.4.1"),
    (spell_version, "new", ""),
    (spell_version, "", ""),
]


@pytest.mark.parametrize(("spell", "text", "written"), SPELLINGS)
def test_what_was_meant_by_a_quantity_or_a_version_is_written_as_kubernetes_reads_it(
    spell: Callable[[str], str], text: str, written: str
) -> None:
    assert spell(text) == written

"""What a profile requires against what a pool declares: one case table, boundaries and absences included."""

from dataclasses import fields

import pytest

from modelplane.catalogue import compare, parse_bandwidth, shortness
from modelplane.model.catalogue import Capabilities, Requires
from modelplane.model.refusal import CapabilityShort, NotMultiNode

FITS = "fits"

#: (needed, declared, FITS or the note): memoryPerGpu is compared as a quantity.
MEMORY = [
    ("141Gi", "141Gi", FITS),
    ("141Gi", "142Gi", FITS),
    ("141Gi", "140Gi", ""),
    ("141Gi", "144383Mi", ""),
    ("141Gi", "144384Mi", FITS),
    ("141Gi", "144385Mi", FITS),
    ("80Gi", "80G", ""),
    ("80G", "80Gi", FITS),
    ("24Gi", "24576Mi", FITS),
    ("24Gi", "24575Mi", ""),
    ("1Ti", "1024Gi", FITS),
    ("1Ti", "1023Gi", ""),
    ("80Gi", "85899345920", FITS),
    ("80Gi", "85899345919", ""),
    ("0", "1Gi", FITS),
    ("80Gi", "80 Gi", "80 Gi is no quantity"),
    ("80GB", "80Gi", "80GB is no quantity"),
    ("80Gi", "", " is no quantity"),
    ("80Gi", None, ""),
    (None, "80Gi", FITS),
    (None, None, FITS),
]

INTERCONNECT = [
    ("nvlink", "nvlink", FITS),
    ("nvlink", "pcie", ""),
    ("nvlink", "NVLink", ""),
    ("pcie", "nvlink", ""),
    ("nvlink", None, ""),
    (None, "nvlink", FITS),
    (None, None, FITS),
]

PRECISIONS = [
    (["fp8"], ["fp8"], FITS),
    (["fp8"], ["fp16", "bf16", "fp8"], FITS),
    (["FP8"], ["fp8"], FITS),
    (["fp8"], ["FP8"], FITS),
    (["fp8", "bf16"], ["bf16", "fp8"], FITS),
    (["fp8", "fp8"], ["fp8"], FITS),
    (["fp8", "fp4"], ["fp8"], ""),
    (["fp8"], ["fp16", "bf16"], ""),
    (["fp8"], ["fp"], ""),
    (["fp8"], [], ""),
    ([], ["fp8"], FITS),
    ([], [], FITS),
]

DOMAIN = [
    (8, 8, FITS),
    (8, 72, FITS),
    (8, 7, ""),
    (8, 0, ""),
    (1, 1, FITS),
    (8, None, ""),
    (None, 8, FITS),
    (None, None, FITS),
]

BANDWIDTH = [
    ("ib-400g", "ib-400g", FITS),
    ("ib-400g", "ib-800g", ""),
    ("ib-400g", "ib-200g", ""),
    ("ib-400g-or-better", "ib-400g", FITS),
    ("ib-400g-or-better", "ib-800g", FITS),
    ("ib-400g-or-better", "ib-399g", ""),
    ("ib-400g-or-better", "IB-400G", FITS),
    ("IB-400g-OR-BETTER", "ib-400g", FITS),
    ("ib-400g-or-better", "roce-800g", "ib and roce cannot be compared"),
    ("roce-100g-or-better", "ib-800g", "roce and ib cannot be compared"),
    ("ib-400g", "roce-400g", "ib and roce cannot be compared"),
    ("ib-400g-or-better", "efa-3200g", "ib and efa cannot be compared"),
    ("ib-400g", "400g", "400g is no bandwidth such as ib-400g"),
    ("fast", "ib-400g", "fast is no bandwidth such as ib-400g"),
    ("ib-400g", "ib-400", "ib-400 is no bandwidth such as ib-400g"),
    ("ib-400g", None, ""),
    ("ib-400g-or-better", None, ""),
    (None, "ib-400g", FITS),
    (None, None, FITS),
]

#: (engines of several nodes, multiNodeCapable of the pool)
NODES = [
    (False, None, None),
    (False, False, None),
    (False, True, None),
    (True, True, None),
    (True, False, NotMultiNode(declared=True)),
    (True, None, NotMultiNode(declared=False)),
]


def _tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _shown(value: object) -> str:
    return ", ".join(value) if isinstance(value, list) else "" if value is None else str(value)


def _compared(field: str, declared_field: str, needs: object, has: object) -> object:
    required = Requires(**{field: _tuple(needs)})  # type: ignore[arg-type]
    return compare(required, Capabilities(**{declared_field: _tuple(has)}))  # type: ignore[arg-type]


CASES = [
    *(("memoryPerGpu", "memory_per_gpu", *case) for case in MEMORY),
    *(("interconnect", "interconnect", *case) for case in INTERCONNECT),
    *(("precisionSupport", "precisions", *case) for case in PRECISIONS),
    *(("nvlinkDomainSize", "nvlink_domain_size", *case) for case in DOMAIN),
    *(("interNodeBandwidth", "bandwidth", *case) for case in BANDWIDTH),
]


@pytest.mark.proves("R77", "P113")
@pytest.mark.parametrize(("capability", "field", "needs", "has", "outcome"), CASES, ids=str)
def test_a_pool_satisfies_what_it_declares_and_nothing_that_it_does_not(
    capability: str, field: str, needs: object, has: object, outcome: str
) -> None:
    expected = None if outcome == FITS else CapabilityShort(capability, _shown(has), _shown(needs), outcome)
    assert _compared(field, field, needs, has) == expected


def test_a_pool_that_fails_at_a_later_capability_is_nearer_and_each_has_its_place() -> None:
    needs = {each: need for _, each, need, _, outcome in CASES if outcome != FITS}
    assert needs.keys() == {each.name for each in fields(Requires)} - {"several_nodes"}
    short = [_compared(field, field, need, () if field == "precisions" else None) for field, need in needs.items()]
    nearness = [shortness(each)[0] for each in short if isinstance(each, CapabilityShort)]
    assert nearness == [5, 4, 3, 2, 1]


@pytest.mark.parametrize(("several", "capable", "expected"), NODES, ids=str)
def test_engines_of_several_nodes_need_a_pool_that_says_it_is_for_them(
    several: bool, capable: bool | None, expected: NotMultiNode | None
) -> None:
    assert compare(Requires(several_nodes=several), Capabilities(multi_node=capable)) == expected


def test_several_nodes_are_refused_before_any_number_is_compared() -> None:
    requires = Requires(memory_per_gpu="141Gi", bandwidth="ib-400g", several_nodes=True)
    assert compare(requires, Capabilities(memory_per_gpu="80Gi", multi_node=False)) == NotMultiNode()


def test_of_several_shortages_the_first_in_the_order_of_the_api_is_named() -> None:
    requires = Requires(memory_per_gpu="141Gi", interconnect="nvlink", precisions=("fp8",), nvlink_domain_size=8)
    assert compare(requires, Capabilities()) == CapabilityShort("memoryPerGpu", "", "141Gi")
    enough = Capabilities(memory_per_gpu="141Gi")
    assert compare(requires, enough) == CapabilityShort("interconnect", "", "nvlink")


@pytest.mark.parametrize("text", ["", "ib", "ib-g", "ib-400", "-400g", "ib-400g-or-worse", "ib 400g", "ib-4000000g"])
def test_what_is_no_family_and_number_is_no_bandwidth(text: str) -> None:
    assert parse_bandwidth(text) is None

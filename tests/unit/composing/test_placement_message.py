"""The message that carries placements to the later steps."""

from dataclasses import replace

import pytest

from modelplane.composing.placement_message import PlacementMessage, read_placements, write_placements
from modelplane.model.names import CONTEXT_PLACEMENTS
from modelplane.model.placement import Stamp
from modelplane.step import Object, Request

_APPLIED = PlacementMessage(
    name="qwen-1234abcd",
    resource="replica-a-0",
    endpoint="endpoint-a-0",
    cluster="a",
    index=0,
    stamp=Stamp.APPLY,
    pools={"main": "h200"},
    classes={"main": ({"gpu": "gpu.nvidia.com"}, {})},
    address="gw.example.org",
    revision="7f3a0000",
    builder=2,
)
_HELD = replace(_APPLIED, stamp=Stamp.HOLD, address=None, spec={"clusterName": "a", "text": "one\ntwo\u2028three"})


def _read(context: dict[str, str]) -> tuple[PlacementMessage, ...] | None:
    return read_placements(Request(Object({}, ""), context=context))


def test_placements_are_read_as_they_were_written_each_with_a_text_of_its_own() -> None:
    found = _read(write_placements([_APPLIED, _HELD]))
    assert found is not None
    written = [replace(one, classes={"main": [{"gpu": "gpu.nvidia.com"}, {}]}) for one in (_APPLIED, _HELD)]
    assert [replace(one, identity="") for one in found] == written
    assert len({one.identity for one in found} - {""}) == 2


def test_no_placements_are_not_an_absent_message() -> None:
    assert (_read(write_placements([])), _read({})) == ((), None)


@pytest.mark.parametrize("line", ['["qwen-1234abcd","replica-a-0"]', '{"name":"qwen-1234abcd"}', "{"], ids=str)
def test_a_message_of_another_version_is_an_error_not_a_guess(line: str) -> None:
    with pytest.raises(ValueError):
        _read({CONTEXT_PLACEMENTS: line})

"""The message that carries placements to the later steps."""

from dataclasses import replace

import pytest

from modelplane.composing.placement_message import PlacementMessage, read_placements, write_placements
from modelplane.model.deployment import Role
from modelplane.model.fleet import PodToleration
from modelplane.model.names import CONTEXT_PLACEMENTS
from modelplane.model.placement import Stamp
from modelplane.model.replica import Claim, StampedEngine, StampedMember
from modelplane.model.resources import Resources
from modelplane.step import Object, Request

_GANG = StampedEngine(
    "main",
    (
        StampedMember(
            Role.LEADER,
            "h200",
            claims=(Claim("gpu", "gpu.nvidia.com", 8, ("device.driver == 'x'",)), Claim("nic", "nic.dra.net", 1)),
            tolerations=(PodToleration("dedicated", "Exists", effect="NoSchedule"),),
            asked=Resources(4000, 1 << 30),
            shared_memory=1 << 24,
        ),
        StampedMember(Role.WORKER, "h200", pods=3, whole_nodes=True),
    ),
    copies=2,
    charged="2*8",
)
_APPLIED = PlacementMessage(
    name="qwen-1234abcd",
    resource="replica-a-0",
    endpoint="endpoint-a-0",
    cluster="a",
    index=0,
    stamp=Stamp.APPLY,
    engines=(_GANG,),
    address="gw.example.org",
    revision="7f3a0000",
    builder=2,
    profile="large",
)
_HELD = replace(
    _APPLIED, stamp=Stamp.HOLD, engines=(), address=None, spec={"clusterName": "a", "text": "one\ntwo\u2028three"}
)


def _read(context: dict[str, str]) -> tuple[PlacementMessage, ...] | None:
    return read_placements(Request(Object({}, ""), context=context))


def test_placements_are_read_as_they_were_written_each_with_a_text_of_its_own() -> None:
    found = _read(write_placements([_APPLIED, _HELD]))
    assert found is not None
    assert [replace(one, identity="") for one in found] == [_APPLIED, _HELD]
    assert len({one.identity for one in found} - {""}) == 2


def test_selectors_are_sent_of_profiles_alone() -> None:
    (found,) = _read(write_placements([replace(_APPLIED, profile="")])) or ()
    claims = [claim for member in found.engines[0].members for claim in member.claims]
    assert claims == [Claim("gpu", "gpu.nvidia.com", 8), Claim("nic", "nic.dra.net", 1)]


def test_no_placements_are_not_an_absent_message() -> None:
    assert (_read(write_placements([])), _read({})) == ((), None)


@pytest.mark.parametrize("line", ['["qwen-1234abcd","replica-a-0"]', '{"name":"qwen-1234abcd"}', "{"], ids=str)
def test_a_message_of_another_version_is_an_error_not_a_guess(line: str) -> None:
    with pytest.raises(ValueError):
        _read({CONTEXT_PLACEMENTS: line})

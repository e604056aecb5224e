"""The kinds of the control cluster."""

from modelplane.reading.definitions import xrds
from modelplane.reading.kinds import OWN, OwnKind


def test_our_kinds_are_those_of_the_xrds() -> None:
    found = {
        kind: OwnKind(
            xrd["spec"]["names"]["plural"],
            "".join(xrd["spec"]["names"].get("shortNames", ())),
            namespaced=xrd["spec"]["scope"] == "Namespaced",
        )
        for kind, xrd in xrds().items()
    }
    assert dict(OWN) == found

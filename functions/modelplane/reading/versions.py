"""Whether the Configuration and the functions of an installation have one version, as its objects say."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from modelplane.model.conditions import AnyCondition
from modelplane.model.names import GROUP
from modelplane.reading.deployments import condition
from modelplane.reading.kinds import OWN
from modelplane.reading.tree import Manifest


@dataclass(frozen=True, slots=True)
class Versions:
    """`stated`: an object says something of versions. `differing`: what objects say of those that differ, sorted."""

    stated: bool
    differing: Sequence[str]


def read_versions(list_: Callable[[str], Iterable[Manifest]]) -> Versions:
    """Return what objects say of the versions; `list_` returns those of a kind (`Kind.group`)."""
    found = [condition(obj, AnyCondition.VERSIONS_MATCH) for kind in OWN for obj in list_(f"{kind}.{GROUP}")]
    differing = sorted({str(each.get("message") or "") for each in found if each.get("status") == "False"})
    return Versions(any(each.get("status") in ("True", "False") for each in found), differing)

"""Fields that a spec may have and this version does not read, because nothing composes what they ask for yet.

An object that sets one says so in a condition; otherwise it would seem to be done.
"""

from collections.abc import Mapping
from typing import Final

from modelplane.composing.messages import sentences
from modelplane.observed.fields import mapping
from modelplane.step import Object

#: Path of each such field below `spec`, by kind; what is in it is not read either.
NOT_READ: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "InferenceClass": (("provisioning", "eks"), ("provisioning", "aks")),
}
_REMEDIES: Final[Mapping[str, str]] = {
    "InferenceClass": (
        "Make nodes of this class yourself, and name it in nodePools of an Existing cluster; clusters are made on GKE."
    ),
}


def _is_set(obj: Object, path: tuple[str, ...]) -> bool:
    *parents, last = path
    found = mapping(obj.body.get("spec"))
    for step in parents:
        found = mapping(found.get(step))
    return found.get(last) is not None


def name_not_read(obj: Object) -> str:
    """Return which fields of an object are not read by this version, and what to do, "" for none."""
    fields = [".".join(("spec", *path)) for path in NOT_READ.get(obj.kind, ()) if _is_set(obj, path)]
    if not fields:
        return ""
    return sentences(f"{', '.join(fields)}: not read by this version of Modelplane", _REMEDIES[obj.kind])

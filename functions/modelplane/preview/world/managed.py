"""What all actors share: which objects are theirs to speak of, and the conditions of a resource that is in order."""

from collections.abc import Iterator

from modelplane.preview.kinds import key_of
from modelplane.preview.store import View
from modelplane.preview.tree import Manifest, Tree, items


def played(view: View, kind: str) -> Iterator[Manifest]:
    """Yield the objects of a kind (`Kind.group`) that are not being deleted and came with no status of their own."""
    for obj in view.scan(kind):
        if not obj["metadata"].get("deletionTimestamp") and key_of(obj) not in view.pinned:
            yield obj


def untold(view: View, kind: str) -> Iterator[Manifest]:
    """Yield the played objects whose present generation nobody has answered yet."""
    for obj in played(view, kind):
        answers = [c.get("observedGeneration") for c in items(obj, "status", "conditions")]
        if not answers or any(answer != obj["metadata"]["generation"] for answer in answers):
            yield obj


def in_order(obj: Manifest, **reasons: str) -> list[Tree]:
    """Return True conditions, each given as type=reason; one that the object has keeps its transition time."""
    generation = obj["metadata"]["generation"]
    since = {str(c.get("type")): c.get("lastTransitionTime") for c in items(obj, "status", "conditions")}
    created = obj["metadata"]["creationTimestamp"]
    return [
        {
            "type": kind,
            "status": "True",
            "reason": reason,
            "observedGeneration": generation,
            "lastTransitionTime": since.get(kind) or created,
        }
        for kind, reason in reasons.items()
    ]

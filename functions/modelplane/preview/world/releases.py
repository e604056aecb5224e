"""provider-helm: every chart is installed and healthy."""

from collections.abc import Iterator

from modelplane.preview.store import View
from modelplane.preview.tree import Manifest
from modelplane.preview.world.managed import in_order, untold

KIND = "Release.helm.m.crossplane.io"


def play(view: View) -> Iterator[tuple[str, str | None, str, Manifest]]:
    """Yield a deployed release's status for every Release."""
    for obj in untold(view, KIND):
        metadata = obj["metadata"]
        yield (
            KIND,
            metadata.get("namespace"),
            metadata["name"],
            {
                "atProvider": {"state": "deployed", "revision": metadata["generation"]},
                "conditions": in_order(obj, Ready="Available", Synced="ReconcileSuccess"),
            },
        )

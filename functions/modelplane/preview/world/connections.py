"""The provider configs: a healthy world's credentials work."""

from collections.abc import Iterator

from modelplane.preview.store import View
from modelplane.preview.tree import Manifest
from modelplane.preview.world.managed import in_order, untold

KINDS = ("ClusterProviderConfig.helm.m.crossplane.io", "ClusterProviderConfig.kubernetes.m.crossplane.io")


def play(view: View) -> Iterator[tuple[str, str | None, str, Manifest]]:
    """Yield Ready for every ClusterProviderConfig."""
    for kind in KINDS:
        for obj in untold(view, kind):
            yield kind, None, obj["metadata"]["name"], {"conditions": in_order(obj, Ready="Available")}

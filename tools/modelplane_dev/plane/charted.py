"""Fakes for a cluster on which real charts are installed, of what their pods would do; each says what it stands for."""

import contextlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from modelplane_dev.plane.api import ApiError, Kind
from modelplane_dev.plane.cluster import Cluster

_WEBHOOKS: Final = tuple(
    Kind("admissionregistration.k8s.io/v1", f"{each}WebhookConfiguration") for each in ("Mutating", "Validating")
)
#: Seconds between two looks.
_PULSE: Final = 1.0


def silence_webhooks(cluster: Cluster) -> None:
    """Take the rules from the webhooks that lead to Services: no API server here reaches one.

    This stands for webhooks that admit everything as it is. They stay: Envoy AI Gateway ends without its own.
    """
    for kind in _WEBHOOKS:
        for found in cluster.api.list(kind):
            hooks = found.get("webhooks", ())
            if any("service" in each["clientConfig"] and each.get("rules") for each in hooks):
                silent = [{**each, "rules": []} if "service" in each["clientConfig"] else each for each in hooks]
                cluster.api.patch(kind, found["metadata"]["name"], {"webhooks": silent})


@contextmanager
def silent_webhooks(cluster: Cluster) -> Iterator[None]:
    """Silence the webhooks of a cluster, those of charts that are installed meanwhile too."""
    ended = threading.Event()

    def run() -> None:
        while not ended.wait(_PULSE):
            with contextlib.suppress(ApiError):  # a server that is away
                silence_webhooks(cluster)

    thread = threading.Thread(target=run, name=f"webhooks-{cluster.name}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()

"""The process around the pure core: it lists, writes one ConfigMap, and ends where it can do neither."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import structlog

from modelplane.inventory.document import encode, recall
from modelplane.inventory.memory import Remembered, inventory_of, settle
from modelplane.inventory.nodes import read_nodes
from modelplane.live import LiveError
from modelplane.model.inventory import Inventory
from modelplane.model.names import INVENTORY, INVENTORY_KEY, LABEL_POOL, LABEL_WORKLOAD
from modelplane.observe import ApiServer
from modelplane.observed.fields import mapping, mappings, text

_PATH: Final = f"/api/v1/namespaces/{INVENTORY}/configmaps/{INVENTORY}"
_UID: Final = "/api/v1/namespaces/kube-system"
#: Objects of a page: one of 500 ResourceSlices with 128 devices each is below what is read of an answer.
_PAGE: Final = 100
#: Seconds after which a document is written again though nothing has changed: it has the cluster's clock.
AGAIN: Final = 240
#: Seconds without a document after which the process ends, and its Deployment says that it does not run.
SILENCE: Final = 600

NODES: Final = "/api/v1/nodes"
SLICES: Final = "/apis/resource.k8s.io/v1/resourceslices"
CLAIMS: Final = "/apis/resource.k8s.io/v1/resourceclaims"
PODS: Final = "/api/v1/pods"


@dataclass(frozen=True, slots=True)
class Lists:
    """What is listed for one reading."""

    nodes: list[Mapping[str, Any]]
    slices: list[Mapping[str, Any]]
    claims: list[Mapping[str, Any]]
    pods: list[Mapping[str, Any]]


def _list(server: ApiServer, path: str, selector: str = "") -> list[Mapping[str, Any]]:
    """Return all objects of a kind, page by page. Raises LiveError."""
    found: list[Mapping[str, Any]] = []
    further = ""
    while True:
        asked = {"limit": str(_PAGE), "labelSelector": selector, "continue": further}
        page = server.get(f"{path}?{urlencode({key: value for key, value in asked.items() if value})}")
        found += mappings(page.get("items"))
        further = text(mapping(page.get("metadata")).get("continue"))
        if not further:
            return found


def read_lists(server: ApiServer) -> Lists:
    """Return what a reading needs. Raises LiveError.

    Pods come after claims: the pod of a claim exists before its claim is allocated.
    """
    return Lists(
        nodes=_list(server, NODES, LABEL_POOL),
        slices=_list(server, SLICES),
        claims=_list(server, CLAIMS),
        pods=_list(server, PODS, LABEL_WORKLOAD),
    )


@dataclass(slots=True)
class _Publisher:
    """Writes what has changed, and the clock now and then. `healthy` is a file that is as old as the last document."""

    server: ApiServer
    uid: str
    remembered: Remembered | None
    healthy: Path | None = None
    last: Inventory | None = None
    written: int = 0

    def turn(self, now: int) -> None:
        """Read, and write where something has changed. Raises LiveError."""
        lists = read_lists(self.server)
        seen = read_nodes(lists.nodes, lists.slices, lists.claims, lists.pods)
        before = self.remembered
        self.remembered = settle(before, seen, now)
        found = inventory_of(self.remembered, self.uid, now)
        same = self.last is not None and (found.groups, found.settled) == (self.last.groups, self.last.settled)
        known = before is not None and before.losses == self.remembered.losses
        if not (same and known) or now - self.written >= AGAIN:
            document = encode(self.remembered, self.uid, now)
            self.server.merge(_PATH, {"data": {INVENTORY_KEY: document}})
            self.last, self.written = found, now
        if self.healthy:
            self.healthy.touch()


def run(
    server: ApiServer,
    *,
    every: float,
    ended: threading.Event,
    clock: Callable[[], float],
    healthy: Path | None = None,
) -> bool:
    """Publish every so many seconds until `ended`; return False if nothing could be published for too long."""
    log = structlog.get_logger()
    publisher: _Publisher | None = None
    done = clock()
    while True:
        try:
            if publisher is None:
                uid = text(mapping(server.get(_UID).get("metadata")).get("uid"))
                document = text(mapping(server.get(_PATH).get("data")).get(INVENTORY_KEY))
                publisher = _Publisher(server, uid, recall(document, uid), healthy)
            publisher.turn(int(clock()))
            done = clock()
        except LiveError as error:
            log.warning("not published", error=str(error))
            if clock() - done >= SILENCE:
                return False
        if ended.wait(every):
            return True

"""What services, caches and the gateway publish in their status, and why one of them is not Ready."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from modelplane.model.conditions import CacheCondition, GatewayCondition, ServiceCondition
from modelplane.model.names import GROUP
from modelplane.reading.deployments import condition
from modelplane.reading.reader import Reader
from modelplane.reading.tree import Manifest, items, mapping

_SERVICE: Final = f"ModelService.{GROUP}"
_CACHE: Final = f"ModelCache.{GROUP}"
_GATEWAY: Final = f"InferenceGateway.{GROUP}"


class State(StrEnum):
    """The state of an object. `TAINTED`: a cluster is Ready, and closed to deployments that do not tolerate it."""

    READY = "Ready"
    TAINTED = "Tainted"
    NO_ADDRESS = "NoGatewayAddress"
    NOT_READY = "NotReady"
    DELETING = "Deleting"


@dataclass(frozen=True, slots=True)
class FleetService:
    """A service: its URL and keys as published, and how many of its endpoints take traffic."""

    namespace: str
    name: str
    state: State
    message: str
    url: str
    keys: str
    ready: int
    total: int


@dataclass(frozen=True, slots=True)
class FleetCache:
    """A cache: what it stages, how far it is (READY/TOTAL clusters), and by cluster its phase and message."""

    namespace: str
    name: str
    state: State
    message: str
    source: str
    ready: str
    clusters: Mapping[str, tuple[str, str]]


@dataclass(frozen=True, slots=True)
class FleetGateway:
    """The gateway: its address, and the URL under which the fleet answers."""

    name: str
    state: State
    message: str
    address: str
    url: str


def read_services(reader: Reader) -> tuple[FleetService, ...]:
    """Return the services of a reader, sorted by namespace and name."""
    return tuple(map(_service, reader.list(_SERVICE)))


def read_caches(reader: Reader) -> tuple[FleetCache, ...]:
    """Return the caches of a reader, sorted by namespace and name."""
    return tuple(map(_cache, reader.list(_CACHE)))


def read_gateways(reader: Reader) -> tuple[FleetGateway, ...]:
    """Return the gateways of a reader, sorted by name."""
    return tuple(map(_gateway, reader.list(_GATEWAY)))


def word_not_true(obj: Manifest, *kinds: str) -> str:
    """Return the message of the first of these conditions that is not True, "" where none says more."""
    found = (condition(obj, kind) for kind in kinds)
    return next((str(each.get("message") or "") for each in found if each and each.get("status") != "True"), "")


def _state(obj: Manifest, *kinds: str) -> tuple[State, str]:
    """Return the state of an object, and why it is not Ready by the first of these conditions that says it."""
    if obj["metadata"].get("deletionTimestamp"):
        return State.DELETING, ""
    if condition(obj, "Ready").get("status") == "True":
        return State.READY, ""
    return State.NOT_READY, word_not_true(obj, *kinds, "Synced", "Ready") or "not reconciled"


def _service(obj: Manifest) -> FleetService:
    status, metadata = mapping(obj, "status"), obj["metadata"]
    endpoints = mapping(status, "endpoints")
    return FleetService(
        metadata["namespace"],
        metadata["name"],
        *_state(obj, ServiceCondition.ENDPOINTS_RESOLVED, ServiceCondition.ROUTING_READY),
        str(status.get("url") or ""),
        str(status.get("keys") or ""),
        _count(endpoints.get("ready")),
        _count(endpoints.get("total")),
    )


def _cache(obj: Manifest) -> FleetCache:
    status, spec, metadata = mapping(obj, "status"), mapping(obj, "spec"), obj["metadata"]
    source = mapping(spec, "huggingFace").get("repo") or spec.get("source") or ""
    return FleetCache(
        metadata["namespace"],
        metadata["name"],
        *_state(obj, CacheCondition.CLUSTERS_MATCHED, CacheCondition.ARTIFACT_READY),
        str(source),
        str(mapping(status, "summary").get("ready") or ""),
        {
            str(row.get("name") or ""): (str(row.get("phase") or ""), str(row.get("message") or ""))
            for row in items(status, "clusters")
        },
    )


def _gateway(obj: Manifest) -> FleetGateway:
    status = mapping(obj, "status")
    return FleetGateway(
        obj["metadata"]["name"],
        *_state(obj, GatewayCondition.CONTROLLER_READY),
        str(status.get("address") or ""),
        str(status.get("fleetUrl") or ""),
    )


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0

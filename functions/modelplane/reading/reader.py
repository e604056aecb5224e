"""The protocol for reading a fleet, and its objects in the form that steps and readers of the domain take."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Protocol

from modelplane.model.names import GROUP
from modelplane.reading.kinds import qualify
from modelplane.reading.tree import Manifest
from modelplane.reading.unread import Unread
from modelplane.step import Object
from modelplane.step.secrets import seal_secrets


class Reader(Protocol):
    """Reads objects of a control cluster: manifests in memory, or a live API server.

    A kind is `Kind` or `Kind.group` (several groups have a ClusterProviderConfig), a namespace None or "" for cluster
    scope. Returned objects must not be changed, because an implementation may share them.
    """

    @property
    def origin(self) -> Hashable:
        """Return a value that distinguishes this reader's object versions from every other reader's in the process."""

    def get(self, kind: str, namespace: str | None, name: str) -> Manifest | None:
        """Return an object, None when there is none."""

    def list(self, kind: str) -> Sequence[Manifest]:
        """Return all objects of a kind, sorted by namespace and name; an empty list if the kind does not exist."""

    def schema(self, api_version: str, kind: str) -> Manifest | None:
        """Return the OpenAPI schema of a kind as far as it is known, None when the kind does not exist."""

    @property
    def unread(self) -> Mapping[str, Unread]:
        """Return, by cluster, what is known of ModelReplicas that were not read."""


def as_object(reader: Reader, body: Manifest) -> Object:
    """Return a stored object in the form that steps get, with sealed Secrets; its key is unique to this reader."""
    uid, version = body["metadata"]["uid"], body["metadata"]["resourceVersion"]
    key = (reader.origin, qualify(body["apiVersion"], body["kind"]), uid, version)
    return Object(seal_secrets(body), key)


def list_residents(reader: Reader) -> list[Object]:
    """Return the ModelReplicas of the fleet, and stand-ins for those that were not read."""
    stand_ins = (each for unread in reader.unread.values() for each in unread.stand_ins)
    return [as_object(reader, body) for body in (*reader.list(f"ModelReplica.{GROUP}"), *stand_ins)]

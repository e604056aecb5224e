"""A reader of what kubectl exports, as it stands: nothing is reconciled."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from modelplane.model.names import GROUP
from modelplane.reading.kinds import Key, key_of
from modelplane.reading.manifest_store import ManifestStore
from modelplane.reading.manifests import InvalidInput, LocatedObject
from modelplane.reading.reader import as_object
from modelplane.reading.table import Table
from modelplane.reading.tree import Tree
from modelplane.reading.unread import find_unread

_CLUSTER: Final = f"InferenceCluster.{GROUP}"
_REPLICA: Final = f"ModelReplica.{GROUP}"


class Export(ManifestStore):
    """The objects of an export. Of an object that occurs twice the last one counts.

    Raises InvalidInput for an object without an apiVersion, a kind or a name. Other fields are not validated: an API
    server has accepted them, and whatever reads a status takes a malformed field for a missing one.
    """

    def __init__(self, read: Iterable[LocatedObject]) -> None:
        tables: dict[str, Table] = {}
        super().__init__(tables, object())
        for number, each in enumerate(read):
            obj = self._complete(each, number)
            key = key_of(obj)
            tables.setdefault(key.kind, Table()).put((key.namespace, key.name), obj)
        clusters, replicas = ([as_object(self, obj) for obj in self.scan(kind)] for kind in (_CLUSTER, _REPLICA))
        self._unread = find_unread(clusters, replicas)

    def _complete(self, read: LocatedObject, number: int) -> Tree:
        """Return an object with the metadata that readers need."""
        obj, metadata = read.obj, read.obj.get("metadata")
        named = metadata if isinstance(metadata, Mapping) else {}
        wanted = {"apiVersion": obj.get("apiVersion"), "kind": obj.get("kind"), "metadata.name": named.get("name")}
        for field, value in wanted.items():
            if not isinstance(value, str) or not value:
                raise InvalidInput(read.source.file, read.source.line(field), field, "must be a text that is not empty")
        namespace = named.get("namespace")
        if self.is_namespaced(obj["apiVersion"], obj["kind"]):
            namespace = namespace if isinstance(namespace, str) and namespace else "default"
        elif namespace is not None and not isinstance(namespace, str):
            raise InvalidInput(read.source.file, read.source.line("metadata"), "metadata.namespace", "must be a text")
        # The number distinguishes two objects even if a file gives both the same uid.
        known: dict[str, Any] = {**named, "namespace": namespace, "resourceVersion": str(number)}
        key = Key(obj["kind"], namespace or "", wanted["metadata.name"] or "")
        return {**obj, "metadata": {**known, "uid": str(named.get("uid") or "/".join(key))}}

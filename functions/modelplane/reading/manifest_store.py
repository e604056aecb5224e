"""A reader of manifests in memory."""

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from types import MappingProxyType

from modelplane.model.names import API_VERSION
from modelplane.reading.definitions import xrds
from modelplane.reading.kinds import CLUSTER_CONFIG, GATEWAY_CLASS, OWN, Key, known_scope, qualify
from modelplane.reading.table import Table
from modelplane.reading.tree import Manifest, Tree, child, clone, items, mapping
from modelplane.reading.unread import Unread
from modelplane.step.secrets import mask_secrets

_CRDS = "CustomResourceDefinition.apiextensions.k8s.io"
_NAMESPACED = "Namespaced"
_NO_LABELS: Mapping[str, str] = MappingProxyType({})

Trees = list[Tree]


class ManifestStore:
    """Implements `Reader` over tables of objects, by kind (`Kind.group`).

    Copies have a placeholder for each secret value that a step composed.

    Existing kinds are Modelplane's own, those of Kubernetes and of the Configuration's dependencies, those of stored
    CustomResourceDefinitions and objects, and `extra_kinds`: (apiVersion, kind) of others, all of them namespaced
    except GatewayClass and ClusterProviderConfigs.
    """

    def __init__(
        self, tables: Mapping[str, Table], origin: Hashable, extra_kinds: Collection[tuple[str, str]] = ()
    ) -> None:
        self._tables = tables
        self._unread: Mapping[str, Unread] = {}
        self.origin = origin
        self.extra_kinds = frozenset(extra_kinds)
        #: Objects that steps required by name and that do not exist.
        self.sought: set[Key] = set()

    def get(self, kind: str, namespace: str | None, name: str) -> Tree | None:
        """Return a deep copy of an object, None when there is none."""
        key = self.locate(kind, namespace, name)
        return None if key is None else dict(mask_secrets(clone(self.peek(key))))

    def list(self, kind: str) -> Trees:
        """Return deep copies of all objects of a kind, sorted by namespace and name."""
        return [dict(mask_secrets(clone(obj))) for each in self._matching(kind) for obj in self.scan(each)]

    @property
    def unread(self) -> Mapping[str, Unread]:
        """Return, by cluster, what is known of ModelReplicas that were not read."""
        return self._unread

    def schema(self, api_version: str, kind: str) -> Manifest | None:
        """Return the OpenAPI schema of a kind, None for one that does not exist; for foreign kinds an empty one."""
        own = xrds().get(kind) if api_version == API_VERSION else None
        for version in items(own, "spec", "versions"):
            return mapping(version, "schema", "openAPIV3Schema")
        return {"type": "object"} if self.is_namespaced(api_version, kind) is not None else None

    def is_namespaced(self, api_version: str, kind: str) -> bool | None:
        """Tell whether a kind is namespaced; None when it does not exist."""
        own = OWN.get(kind) if api_version == API_VERSION else None
        if own is not None:
            return own.namespaced
        scope = known_scope(api_version, kind)
        if scope is None and (api_version, kind) in self.extra_kinds:
            return (api_version, kind) != GATEWAY_CLASS and kind != CLUSTER_CONFIG
        return self._installed(api_version, kind) if scope is None else scope

    def kinds(self) -> Sequence[str]:
        """Return the kinds (`Kind.group`) that have been stored, sorted."""
        return sorted(self._tables)

    def locate(self, kind: str, namespace: str | None, name: str) -> Key | None:
        """Return the identity of an object that exists, None otherwise."""
        place = (namespace or "", name)
        return next((Key(k, *place) for k in self._matching(kind) if self._tables[k].get(place) is not None), None)

    def peek(self, key: Key) -> Manifest | None:
        """Return the stored object, not a copy; it must not be changed."""
        table = self._tables.get(key.kind)
        return None if table is None else table.get((key.namespace, key.name))

    def has_namespace(self, name: str) -> bool:
        """Tell whether any object is in a namespace."""
        return any(table.has_namespace(name) for table in self._tables.values())

    def scan(self, kind: str, labels: Mapping[str, str] = _NO_LABELS) -> Iterator[Manifest]:
        """Yield the stored objects of one kind (`Kind.group`) with these labels, sorted by namespace and name."""
        table = self._tables.get(kind)
        return iter(()) if table is None else table.labelled(labels)

    def everything(self) -> Iterator[Manifest]:
        """Yield every stored object, sorted by kind, namespace and name."""
        for kind in self.kinds():
            yield from self.scan(kind)

    def _matching(self, kind: str) -> Sequence[str]:
        if "." in kind:
            return [kind] if kind in self._tables else []
        return [k for k in self.kinds() if k.partition(".")[0] == kind]

    def _installed(self, api_version: str, kind: str) -> bool | None:
        """Tell whether a kind that stored objects show to exist is namespaced; None if none does."""
        group, _, version = api_version.rpartition("/")
        for crd in self.scan(_CRDS):
            spec = mapping(crd, "spec")
            served = {v.get("name") for v in items(spec, "versions")}
            if (spec.get("group"), child(spec, "names", "kind")) == (group, kind) and version in served:
                return bool(spec.get("scope") == _NAMESPACED)
        same = (obj for obj in self.scan(qualify(api_version, kind)) if obj["apiVersion"] == api_version)
        return next((bool(obj["metadata"].get("namespace")) for obj in same), None)

"""Which kinds the control cluster has, and how required resources and schemas are read from it."""

from collections.abc import Iterable

from modelplane.model.names import API_VERSION
from modelplane.preview.definitions import xrds
from modelplane.preview.kinds import Key, known_scope, qualify
from modelplane.preview.pipeline_run import FetchError
from modelplane.preview.store import Reader
from modelplane.preview.tree import Manifest, child, clone, items, mapping
from modelplane.step import Object, Requirement, SchemaRequirement
from modelplane.step.secrets import seal_secrets

_CRDS = "CustomResourceDefinition.apiextensions.k8s.io"
_NAMESPACED = "Namespaced"


def as_object(reader: Reader, body: Manifest) -> Object:
    """Return an object as steps get it, Secrets sealed; its key is of this version in this control plane."""
    uid, version = body["metadata"]["uid"], body["metadata"]["resourceVersion"]
    key = (reader.token, qualify(body["apiVersion"], body["kind"]), uid, version)
    return Object(seal_secrets(clone(body)) if _holds_secret(body) else body, key)


class KnownKinds:
    """The kinds that exist: ours, core and dependencies' ones, installed CRDs, kinds of stored objects, the world's."""

    def __init__(self, extra: Iterable[tuple[str, str]] = ()) -> None:
        #: (apiVersion, kind) of namespaced kinds that the world says exist.
        self._extra = frozenset(extra)

    def namespaced(self, reader: Reader, api_version: str, kind: str) -> bool | None:
        """Tell whether a kind is namespaced; None when it does not exist."""
        own = xrds().get(kind) if api_version == API_VERSION else None
        if own is not None:
            return bool(child(own, "spec", "scope") == _NAMESPACED)
        scope = known_scope(api_version, kind)
        if scope is None and (api_version, kind) in self._extra:
            return True
        return self._installed(reader, api_version, kind) if scope is None else scope

    def schema(self, reader: Reader, requirement: SchemaRequirement) -> Manifest | None:
        """Return the OpenAPI schema of a kind, None for one that does not exist; of others' kinds only that they do."""
        own = xrds().get(requirement.kind) if requirement.api_version == API_VERSION else None
        for version in items(own, "spec", "versions"):
            return mapping(version, "schema", "openAPIV3Schema")
        known = self.namespaced(reader, requirement.api_version, requirement.kind) is not None
        return {"type": "object"} if known else None

    def _installed(self, reader: Reader, api_version: str, kind: str) -> bool | None:
        group, _, version = api_version.rpartition("/")
        for crd in reader.scan(_CRDS):
            spec = mapping(crd, "spec")
            served = {v.get("name") for v in items(spec, "versions")}
            if (spec.get("group"), child(spec, "names", "kind")) == (group, kind) and version in served:
                return bool(spec.get("scope") == _NAMESPACED)
        same = (obj for obj in reader.scan(qualify(api_version, kind)) if obj["apiVersion"] == api_version)
        return next((bool(obj["metadata"].get("namespace")) for obj in same), None)


def fetch(reader: Reader, kinds: KnownKinds, requirement: Requirement) -> tuple[Object, ...]:
    """Return what a requirement finds, sorted by namespace and name; raises FetchError as an API server would fail."""
    return tuple(as_object(reader, body) for body in select(reader, kinds, requirement))


def select(reader: Reader, kinds: KnownKinds, requirement: Requirement) -> list[Manifest]:
    """Return the stored objects that a requirement asks for."""
    api_version, kind, namespace = requirement.api_version, requirement.kind, requirement.namespace or ""
    how = "list required resources" if requirement.match_name is None else "get required resource by name"
    namespaced = kinds.namespaced(reader, api_version, kind)
    if namespaced is None:
        raise FetchError(f'cannot {how}: no matches for kind "{kind}" in version "{api_version}"')
    if not namespaced:
        # Crossplane reads through a cache, which does not look at the namespace of what has none.
        namespace = ""
    if requirement.match_name is not None:
        found = reader.peek(Key(qualify(api_version, kind), namespace, requirement.match_name))
        return [] if found is None else [found]
    listed = reader.scan(qualify(api_version, kind), requirement.match_labels)
    return [obj for obj in listed if namespace in {"", obj["metadata"].get("namespace") or ""}]


def _holds_secret(body: Manifest) -> bool:
    """Tell whether an object is a Secret, or a provider-kubernetes Object for one: steps get a sealed copy."""
    return "Secret" in (
        body["kind"],
        child(body, "spec", "forProvider", "manifest", "kind"),
        child(body, "status", "atProvider", "manifest", "kind"),
    )

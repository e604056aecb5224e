"""What Crossplane adds to a desired resource before it applies it: name, namespace, labels and owner."""

import hashlib
import re
from collections.abc import Iterable

from modelplane.model.names import NAME_LIMIT
from modelplane.observed.fields import RESOURCE_NAME
from modelplane.preview.deletion import COMPOSITE_LABEL, controller_uid
from modelplane.reading.kinds import Key, refer
from modelplane.reading.manifest_store import ManifestStore
from modelplane.reading.tree import Manifest, Tree, child, clone, items, mapping

_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_SUBDOMAIN_LIMIT = 253
_GENERATED_HASH = 12


class CompositionError(Exception):
    """A pass that Crossplane fails, having applied none or only some of the resources."""


def references(composed: Iterable[Manifest], *, namespaced: bool) -> list[Tree]:
    """Return `spec.crossplane.resourceRefs` for composed resources; of a namespaced composite without namespaces."""
    refs = []
    for obj in composed:
        metadata = obj["metadata"]
        ref = {"apiVersion": obj["apiVersion"], "kind": obj["kind"], "name": metadata["name"]}
        if not namespaced and metadata.get("namespace"):
            ref["namespace"] = metadata["namespace"]
        refs.append(ref)
    return sorted(refs, key=lambda r: r["apiVersion"] + r["kind"] + r["name"] + r.get("namespace", ""))


def composed_keys(composite: Manifest) -> list[Key]:
    """Return the identities of what a composite refers to as composed, whether it exists or not."""
    namespace = composite["metadata"].get("namespace")
    refs = items(composite, "spec", "crossplane", "resourceRefs")
    return [refer(ref, namespace or ref.get("namespace")) for ref in refs]


def observe(store: ManifestStore, composite: Manifest) -> dict[str, Manifest]:
    """Return the composed resources of a composite that exist and are its own, by composition resource name."""
    found = {}
    metadata = composite["metadata"]
    for key in composed_keys(composite):
        obj = store.peek(key)
        if obj is None or controller_uid(obj) not in {None, metadata["uid"]}:
            continue
        name = child(obj, "metadata", "annotations", RESOURCE_NAME)
        if not name:
            why = f'encountered composed resource without required "{RESOURCE_NAME}" annotation'
            raise CompositionError(f"cannot get existing composed resources: {why}")
        found[str(name)] = obj
    return found


def render(composite: Manifest, name: str, manifest: Manifest, observed: Manifest | None) -> Tree:
    """Return a desired resource as it is applied: with name, namespace, labels and owner, without status."""
    result: Tree = {k: clone(v) for k, v in manifest.items() if k != "status"}
    metadata: Tree = {k: v for k, v in result.get("metadata", {}).items() if v is not None}
    if observed is not None:
        # An existing object keeps its name, whatever name the step gives it now.
        for field in ("name", "namespace", "generateName"):
            metadata.pop(field, None)
            if observed["metadata"].get(field):
                metadata[field] = observed["metadata"][field]
    owner = composite["metadata"]
    if owner.get("namespace"):
        metadata["namespace"] = owner["namespace"]
    root = mapping(owner, "labels")[COMPOSITE_LABEL]
    metadata["annotations"] = {**mapping(metadata, "annotations"), RESOURCE_NAME: name}
    metadata["labels"] = {**mapping(metadata, "labels"), COMPOSITE_LABEL: root}
    metadata["ownerReferences"] = [*items(metadata, "ownerReferences"), _controller(composite)]
    if not metadata.get("name"):
        metadata.setdefault("generateName", f"{root}-")
        metadata["name"] = child_name(metadata["generateName"], owner["uid"], name)
    if len(metadata["name"]) > _SUBDOMAIN_LIMIT or not _SUBDOMAIN.fullmatch(metadata["name"]):
        raise CompositionError(
            f'cannot apply composed resource "{name}" because it has an invalid name "{metadata["name"]}". '
            "Must be a valid RFC 1123 subdomain name."
        )
    return {**result, "metadata": metadata}


def child_name(prefix: str, uid: str, resource: str) -> str:
    """Return the name that Crossplane gives a composed resource without one: the prefix and a hash, at most 63 long."""
    suffix = hashlib.sha256(f"{uid}{resource}".encode()).hexdigest()[:_GENERATED_HASH]
    prefix = prefix if prefix.endswith("-") else f"{prefix}-"
    room = NAME_LIMIT - _GENERATED_HASH
    if len(prefix) > room:
        prefix = prefix[:room] if prefix[:room].endswith("-") else f"{prefix[: room - 1]}-"
    return prefix + suffix


def _controller(composite: Manifest) -> Tree:
    return {
        "apiVersion": composite["apiVersion"],
        "kind": composite["kind"],
        "name": composite["metadata"]["name"],
        "uid": composite["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }

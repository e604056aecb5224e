"""The Object that copies a Secret or ConfigMap from the control cluster to an inference cluster, by reference."""

from collections.abc import Mapping, Sequence
from typing import Any

from modelplane.kube.object import Handling, remote_object
from modelplane.model.names import LABEL_NAMESPACE


def _manifest(original: Mapping[str, Any], namespace: str) -> dict[str, Any]:
    """Return the copy without its data, which never passes through a function."""
    metadata = original["metadata"]
    labels = {LABEL_NAMESPACE: metadata["namespace"]}
    manifest = {
        "apiVersion": "v1",
        "kind": original["kind"],
        "metadata": {"name": metadata["name"], "namespace": namespace, "labels": labels},
    }
    return manifest | ({"type": original.get("type", "Opaque")} if original["kind"] == "Secret" else {})


def source_copy(  # noqa: PLR0913 - what a copy is made of
    original: Mapping[str, Any],
    namespace: str,
    handling: Handling,
    *,
    config: str,
    name: str,
    owners: Sequence[Mapping[str, Any]],
    called: str = "",
) -> dict[str, Any]:
    """Return the Object `name` that copies `original` to `namespace` on the cluster of `config`.

    The copy has the name of the original, or is `called` something else.
    The provider patches the complete data at every reconcile, so that removed keys are removed from the copy; no other
    field manager applies the data. `owners` are additional owners of the Object (metadata.ownerReferences).
    """
    metadata = original["metadata"]
    copied = {**original, "metadata": {**metadata, "name": called or metadata["name"]}}
    body = remote_object(_manifest(copied, namespace), handling, namespace=metadata["namespace"], config=config)
    source = {key: metadata[key] for key in ("name", "namespace")}
    patch = {"apiVersion": "v1", "kind": original["kind"], **source, "fieldPath": "data"}
    references = [{"patchesFrom": patch, "toFieldPath": "data"}, *body["spec"].get("references", [])]
    owned = {"ownerReferences": [dict(owner) for owner in owners]} if owners else {}
    named = {**body["metadata"], "name": name, **owned}
    return {**body, "metadata": named, "spec": {**body["spec"], "references": references}}


def key_copy(  # noqa: PLR0913 - what a copy is made of
    original: Mapping[str, Any],
    key: str,
    namespace: str,
    handling: Handling,
    *,
    config: str,
    name: str,
    kind: str = "Opaque",
) -> dict[str, Any]:
    """Return the Object that copies one key of the Secret `original` to the Secret `name` on the cluster of `config`.

    `kind` is the type of the copy. While the key does not exist, the provider reports that and creates no Secret.
    """
    metadata = original["metadata"]
    manifest = _manifest({**original, "metadata": {**metadata, "name": name}, "type": kind}, namespace)
    body = remote_object(manifest, handling, namespace=metadata["namespace"], config=config)
    source = {part: metadata[part] for part in ("name", "namespace")}
    patch = {"apiVersion": "v1", "kind": "Secret", **source, "fieldPath": f"data[{key}]"}
    references = [{"patchesFrom": patch, "toFieldPath": f"data[{key}]"}, *body["spec"].get("references", [])]
    return {**body, "spec": {**body["spec"], "references": references}}

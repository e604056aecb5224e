"""The Object that copies a Secret or ConfigMap from the control cluster to an inference cluster, by reference.

Those of a replica's engines are composed by `compose_replica.source_copies`, those of a download by
`compose_cache.token` and `pull_secrets`, the pair of a cluster's gateway by `compose_cluster.gateway`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from modelplane.kube.object import Handling, remote_object
from modelplane.model.names import LABEL_NAMESPACE


def source_copy(  # noqa: PLR0913 - what a copy is made of
    original: Mapping[str, Any],
    handling: Handling,
    *,
    namespace: str,
    config: str,
    called: str = "",
    key: str = "",
    typed: str = "",
) -> dict[str, Any]:
    """Return the Object that copies `original` to `namespace` on the cluster of `config`.

    The copy has the name and the type of the original, or is `called` and `typed` something else. The provider patches
    the data, which never passes through a function: with a `key` this one, which it reports while it does not exist,
    and creates no copy. Without a key it patches the complete data at every reconcile, so that removed keys are removed
    from the copy; no other field manager applies the data.
    """
    metadata, kind, field = original["metadata"], original["kind"], f"data[{key}]" if key else "data"
    labels = {LABEL_NAMESPACE: metadata["namespace"]}
    manifest = {
        "apiVersion": "v1",
        "kind": kind,
        "metadata": {"name": called or metadata["name"], "namespace": namespace, "labels": labels},
        **({"type": typed or original.get("type", "Opaque")} if kind == "Secret" else {}),
    }
    body = remote_object(manifest, handling, namespace=metadata["namespace"], config=config)
    source = {part: metadata[part] for part in ("name", "namespace")}
    patch = {"apiVersion": "v1", "kind": kind, **source, "fieldPath": field}
    references = [{"patchesFrom": patch, "toFieldPath": field}, *body["spec"].get("references", [])]
    return {**body, "spec": {**body["spec"], "references": references}}


def owned(body: Mapping[str, Any], name: str, owners: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """Return an Object of that name, with additional owners (metadata.ownerReferences)."""
    others = {"ownerReferences": [dict(owner) for owner in owners]} if owners else {}
    return {**body, "metadata": {**body["metadata"], "name": name, **others}}

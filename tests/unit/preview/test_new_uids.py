"""A restore that gives objects new uids: what is on the inference clusters is adopted by its name (docs/back-up.md)."""

from typing import Any

from given import manifests as fleets
from modelplane.preview import ControlPlane

Manifest = dict[str, Any]
#: Composites as a user writes them, for one cluster: which of several is chosen on a tie is for a hash to say.
WRITTEN = (fleets.hardware(), fleets.cluster("east", nodes=4), fleets.deployment(replicas=2, gpus=4))


def restored(uids: str) -> ControlPlane:
    """Return a settled control plane of what was written, whose uids begin with `uids`."""
    named = (f"{uids}-{each['kind']}" for each in WRITTEN)
    given = [{**each, "metadata": {**each["metadata"], "uid": uid}} for each, uid in zip(WRITTEN, named, strict=True)]
    control = ControlPlane(given)
    assert control.settle()
    return control


def owners(control: ControlPlane) -> set[str]:
    """Return the uids of what controls the replicas."""
    return {each["metadata"]["ownerReferences"][0]["uid"] for each in control.list("ModelReplica")}


def on_clusters(control: ControlPlane) -> dict[tuple[str, ...], Manifest]:
    """Return what is put on the clusters, by cluster, kind, namespace and name there."""
    found: dict[tuple[str, ...], Manifest] = {}
    for obj in control.list("Object"):
        manifest = obj["spec"]["forProvider"]["manifest"]
        metadata, config = manifest["metadata"], obj["spec"]["providerConfigRef"]["name"]
        found[config, manifest["kind"], metadata.get("namespace", ""), metadata["name"]] = manifest
    return found


def test_what_is_composed_under_new_uids_is_what_the_clusters_have_under_the_same_names() -> None:
    before, after = restored("old"), restored("new")
    assert owners(before) == {"old-ModelDeployment"}
    assert owners(after) == {"new-ModelDeployment"}
    assert on_clusters(after) == on_clusters(before)
    kinds = {kind for _, kind, *_ in on_clusters(before)}
    assert {"Deployment", "HTTPRoute", "Namespace", "NetworkPolicy", "ResourceClaimTemplate", "Service"} <= kinds


def test_replicas_keep_their_names_under_new_uids_so_that_services_and_routes_find_them() -> None:
    names = [
        {
            kind: sorted(each["metadata"]["name"] for each in control.list(kind))
            for kind in ("ModelReplica", "ModelEndpoint")
        }
        for control in (restored("old"), restored("new"))
    ]
    assert names[0] == names[1]
    assert len(names[0]["ModelReplica"]) == 2

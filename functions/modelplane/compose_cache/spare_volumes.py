"""Volumes of a cache that are no longer desired, and which of them replicas may still mount."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from modelplane.compose_cache.cluster_staging import Manifests, StagingResult
from modelplane.compose_cache.report import published
from modelplane.composing import requirements as require
from modelplane.composing.hold import held
from modelplane.model.observation import Gap
from modelplane.observed.fields import mapping, mappings, text
from modelplane.observed.remote import read_remote
from modelplane.step import Object, Request


@dataclass(frozen=True, slots=True)
class SpareVolume:
    """A composed volume that is no longer desired: of another source, or on a cluster that is not selected.

    `cluster` or `volume` is "" where its Object cannot be read.
    """

    resource: str
    body: Mapping[str, Any]
    cluster: str
    volume: str


def cluster_of(body: Mapping[str, Any]) -> str:
    """Return the cluster of an Object, "" for one that does not keep its cluster or cannot be read."""
    references = mappings(mapping(body.get("spec")).get("references"))
    clusters = [text(mapping(each.get("dependsOn")).get("name")) for each in references]
    return next(filter(None, clusters), "")


def spare_volumes(request: Request, wanted: Manifests) -> Iterator[SpareVolume]:
    """Yield the observed volumes that are no longer desired."""
    for resource, found in sorted(request.observed.items()):
        if resource.startswith("volume-") and resource not in wanted:
            name = text(mapping(read_remote(found).wanted.get("metadata")).get("name"))
            yield SpareVolume(resource, held(found.body), cluster_of(found.body), name)


def _may_mount(replica: Object, cache: str, spare: SpareVolume) -> bool:
    """Tell whether a replica may mount a volume: by its spec, by its status, or because it has not recorded one yet."""
    spec, status = mapping(replica.body.get("spec")), mapping(replica.body.get("status"))
    if spec.get("clusterName") != spare.cluster:
        return False
    if spec.get("volume") == spare.volume:
        return True
    if isinstance(mounted := status.get("volumes"), list):
        return spare.volume in mounted
    uses = mapping(spec.get("modelCacheRef")).get("name") == cache
    return uses and bool(mapping(spec.get("crossplane")).get("resourceRefs"))


def _reason_to_keep(request: Request, spare: SpareVolume, now: Mapping[str, Any]) -> str | None:
    """Return why a spare volume stays ("" for a reason that is not reported), None if it may be removed.

    A volume that this pass removes from the published status stays until a later pass, which sees every replica that
    has read it there.
    """
    before = published(request.composite).get(spare.cluster, {})
    if not spare.cluster or not spare.volume or spare.volume in (now.get("name"), before.get("name")):
        return ""
    replicas = request.all(require.team_replicas(request.composite.namespace))
    if isinstance(replicas, Gap):
        return ""
    users = sorted(each.name for each in replicas if _may_mount(each, request.composite.name, spare))
    if not users:
        return None
    mounting = f"ModelReplica {users[0]} mounts" if len(users) == 1 else f"ModelReplicas {', '.join(users)} mount"
    return f"{spare.cluster}: volume {spare.volume} is kept while {mounting} it"


def keep_mounted(
    request: Request, spares: Iterable[SpareVolume], results: Iterable[StagingResult]
) -> tuple[Manifests, list[str]]:
    """Return the Objects of the spare volumes that stay, and the reasons."""
    now, objects, notes = {each.cluster: each.volume for each in results}, {}, []
    for spare in spares:
        reason = _reason_to_keep(request, spare, now.get(spare.cluster, {}))
        if reason is not None:
            objects[spare.resource] = spare.body
        notes += [reason] if reason else []
    return objects, notes

"""Composes a ModelReplica: the objects of its engines on its cluster, and its status from what they report."""

from collections.abc import Mapping
from dataclasses import replace

from modelplane.compose_replica import builder, by_hand, ending, weights
from modelplane.compose_replica.findings import ReplicaFindings
from modelplane.compose_replica.instance import Instance
from modelplane.compose_replica.obstacle import Obstacle, cluster_mismatch, denied_metadata, reach
from modelplane.compose_replica.picker import observed_name
from modelplane.compose_replica.readiness import observed_names
from modelplane.compose_replica.result import drop, findings_of, hold, read_remotes, read_states, result_of
from modelplane.compose_replica.source_copies import SourceCopies
from modelplane.compose_replica.spec import ReplicaSpec, read_spec
from modelplane.compose_replica.stages import NAMESPACE, STAGES, UNREPORTED_STAGES, Objects, StageInputs, run
from modelplane.compose_replica.weights import Mount
from modelplane.composing import requirements as require
from modelplane.composing.hold import hold_all
from modelplane.composing.namespace import find_unclaimed
from modelplane.composing.orphan import waits
from modelplane.composing.site import Site
from modelplane.model.conditions import Reason
from modelplane.model.fleet import TeamIsolation
from modelplane.model.names import LABEL_DEPLOYMENT
from modelplane.model.observation import Malformed
from modelplane.observed.bounds import find_over_bound
from modelplane.observed.cluster import read_cluster, read_team_isolation
from modelplane.observed.fields import labels, mapping
from modelplane.observed.remote import Remote, read_remote
from modelplane.observed.stamp import stamp_digest
from modelplane.step import Object, Request, Result


def _find_refusal(request: Request, spec: ReplicaSpec) -> Obstacle | None:
    """Return why a hand-written replica may not run; one whose engines serve may, even if that is not recorded."""
    found = by_hand.find_refusal(request)
    return None if found is None or findings_of(request, spec, hold_all(request)).serves else found


def _site(request: Request, spec: ReplicaSpec, config: str) -> Site:
    cluster = request.one(require.cluster(spec.cluster))
    isolation = read_team_isolation(cluster) if isinstance(cluster, Object) else TeamIsolation()
    return Site(request.composite.namespace, spec.cluster, config, isolation)


def _resolve(
    request: Request, spec: ReplicaSpec, remotes: Mapping[str, Remote], copies: SourceCopies
) -> tuple[Site, Mount] | Obstacle:
    """Return where the replica's objects are and which volume is mounted, or the first obstacle to composing."""
    if skew := builder.skew(request.observed, spec.builder):
        return Obstacle(Reason.DEPLOYING, skew)
    if wrong := cluster_mismatch(request.composite, spec, remotes):
        return wrong
    config = reach(spec, request.one(require.cluster(spec.cluster)), remotes.values())
    if isinstance(config, Obstacle):
        return config
    if missing := copies.obstacle():
        return missing
    mount = weights.choose(request, spec, remotes)
    return mount if isinstance(mount, Obstacle) else (_site(request, spec, config), mount)


def _order(request: Request, spec: ReplicaSpec, mount: Mount) -> builder.Order:
    """Return the input of the builder for the replica's present spec."""
    served = mapping(request.composite.body.get("status")).get("servedEngines")
    digest = stamp_digest(request.composite, mount.volume)
    return builder.Order(digest, unchanged=served == list(spec.block), least=spec.builder)


def _find_denied(request: Request, spec: ReplicaSpec, order: builder.Order) -> Obstacle | None:
    """Return that the cluster denies metadata of the pods; pods that run, or ran, with exactly this are exempt."""
    cluster = request.one(require.cluster(spec.cluster))
    served = mapping(request.composite.body.get("status")).get("servedStamp")
    if not isinstance(cluster, Object) or order.unchanged or order.digest in (served, builder.ran(request.observed)):
        return None
    return denied_metadata(spec, read_cluster(cluster))


def _find_unclaimed(request: Request, site: Site) -> Obstacle | None:
    """Return why nothing may be created yet in the team's namespace; a replica with objects there is exempt."""
    seen = request.observed.get(NAMESPACE)
    if request.observed.keys() - {NAMESPACE}:
        return None
    why = find_unclaimed(site.team, read_remote(seen) if seen else None)
    return Obstacle(Reason.WAITING_FOR_CLUSTER, why) if why else None


def _build(given: StageInputs, mount: Mount) -> tuple[ReplicaFindings, Objects]:
    """Return the objects of all stages, and what was found by comparing those of `STAGES` with the cluster."""
    objects = run(STAGES, given, {})
    findings = findings_of(given.request, given.spec, objects, states=given.states)
    findings = replace(findings, mount=mount, stamp=given.order.digest)
    given = replace(given, observed_workloads=findings.workloads_to_observe)
    return findings, run(UNREPORTED_STAGES, given, objects)


def _compose(request: Request, spec: ReplicaSpec) -> Result:
    remotes = read_remotes(request)
    cluster, copies = require.cluster(spec.cluster), SourceCopies.of(request, spec.cluster)
    requirements = (cluster, *copies.requirements(), *weights.needs(request, spec, remotes), *by_hand.needs(request))
    if refused := _find_refusal(request, spec):
        ends = refused.ends and not waits(request.one(cluster))
        return (drop if ends else hold)(request, spec, refused, requirements)
    found = _resolve(request, spec, remotes, copies)
    if isinstance(found, Obstacle):
        return hold(request, spec, found, requirements)
    site, mount = found
    if unclaimed := _find_unclaimed(request, site):
        claim = {NAMESPACE: site.claim_namespace(remotes.get(NAMESPACE))}
        return result_of(request, findings_of(request, spec, {}, unclaimed), claim, requirements)
    order = _order(request, spec, mount)
    if denied := _find_denied(request, spec, order):
        return hold(request, spec, denied, requirements)
    deployment = labels(request.composite).get(LABEL_DEPLOYMENT, "")
    drops_all = builder.drops_all(request.observed, order, asked=site.isolation.drops_all)
    instance = Instance(
        site,
        request.composite.name,
        deployment,
        mount.volume,
        spec.drain_seconds,
        drops_all=drops_all,
        picker=observed_name(remotes),
        named=observed_names(remotes),
    )
    given = StageInputs(request, spec, instance, order, copies, remotes, read_states(remotes))
    return result_of(request, *_build(given, mount), requirements)


def _end(request: Request, spec: ReplicaSpec) -> Result:
    """Return the result for an ending replica; it stays whole while nothing may be changed on its cluster."""
    stays = waits(request.one(require.cluster(spec.cluster)))
    objects = hold_all(request) if stays else ending.remaining(request)
    found = replace(findings_of(request, spec, objects), ended=ending.is_over(request))
    return result_of(request, found, objects, (require.cluster(spec.cluster), *ending.requirements(request)))


def compose(request: Request) -> Result:
    """Return the replica's Objects: composed if its cluster can be reached, else held as observed."""
    spec = read_spec(request.composite)
    if isinstance(spec, Malformed):
        return hold(request, None, Obstacle(Reason.DEPLOYING, str(spec)))
    if spec.ending:
        return _end(request, spec)
    if over := find_over_bound(request.composite):
        found = Obstacle(Reason.INVALID_ENGINE, f"{over}; make it smaller")
        return hold(request, spec, found, (require.cluster(spec.cluster),))
    return _compose(request, spec)

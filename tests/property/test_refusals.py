"""For every candidate one reason, the first that holds; a cluster's pool that came nearest speaks for it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelplane.model.deployment import Deployment, Engine, Member, Profile, Role
from modelplane.model.fleet import ClaimKind, Cluster, Effect, Pool
from modelplane.model.placement import Footprint
from property.fleet import Fleet, decide
from property.oracles.selectors import Answer, answer
from property.oracles.taints import carries, untolerated
from property.strategies import LABELS, clusters, examples, requests, taints

POOL_REASONS = ("NoDevice", "TooFewDevices", "SelectorError", "NotClaimable", "NoRoom", "SearchBound")


def pool_reasons(pool: Pool, deployment: Deployment) -> set[str]:
    """Return the reasons that may be given for a pool and a deployment with a single request."""
    (request,) = deployment.profiles[0].engines[0].members[0].requests
    answers = [answer(request.selectors, device) for device in pool.devices]
    matching = [d for d, a in zip(pool.devices, answers, strict=True) if a is Answer.YES]
    if not matching:
        return {"NoDevice", "SelectorError"} if Answer.ERROR in answers else {"NoDevice"}
    enough = [device for device in matching if device.count >= request.count]
    if not enough:
        return {"TooFewDevices"}
    failing = {
        device.device_class
        for device, a in zip(pool.devices, answers, strict=True)
        if a is Answer.ERROR and device.claim is ClaimKind.DRA
    }
    usable = [device for device in enough if device.claim is ClaimKind.DRA and device.device_class not in failing]
    if usable:
        return {"NoRoom"}
    claimable = any(device.claim is ClaimKind.DRA for device in enough)
    synthetic = any(device.claim is ClaimKind.SYNTHETIC for device in enough)
    return {name for name, holds in (("SelectorError", claimable), ("NotClaimable", synthetic)) if holds}


def cluster_reasons(cluster: Cluster, deployment: Deployment, cache: dict[str, str]) -> set[str]:
    """Return the reasons that may be given for a cluster."""
    gates = (
        ("Deleting", cluster.deleting),
        ("NotReady", not cluster.ready),
        ("NoGatewayAddress", cluster.address is None),
        ("OutsideCache", not carries(cluster, cache)),
        ("Tainted", bool(untolerated(deployment, cluster, *Effect))),
        ("NoPools", not cluster.pools),
    )
    for name, holds in gates:
        if holds:
            return {name}
    each = [pool_reasons(pool, deployment) for pool in cluster.pools or ()]
    latest = max(min(map(POOL_REASONS.index, reasons)) for reasons in each)
    return {name for reasons in each for name in reasons if POOL_REASONS.index(name) >= latest}


@pytest.mark.proves("R88")
@given(st.data())
@examples(200)
def test_every_candidate_has_one_reason_the_first_that_applies(data: st.DataObject) -> None:
    draw = data.draw
    fleet = {}
    for name in ("a", "b", "c"):
        cluster = draw(clusters(name, st.integers(0, 1)))
        pools = draw(st.sampled_from((cluster.pools, cluster.pools, cluster.pools, (), None)))
        tainted = draw(taints()) if draw(st.booleans()) else ()
        deleting = draw(st.sampled_from((False, False, False, True)))
        fleet[name] = replace(cluster, pools=pools, taints=tainted, deleting=deleting)
    member = Member(Role.STANDALONE, 1, (draw(requests("r")),))
    deployment = Deployment(
        "team", "model", "owner", (Profile((Engine("e", (member,)),)),), replicas=9, cache="weights"
    )
    cache = draw(st.sampled_from(LABELS))
    fleet_now = Fleet(fleet)
    fleet_now.cache = Footprint("weights", cache)
    decided = decide(deployment, fleet_now.snapshot()).schedule
    candidates = {name for name, cluster in fleet.items() if carries(cluster, cache)}
    if decided.unplaced:
        assert candidates <= set(decided.refusals) <= set(fleet)
        for name, refusal in decided.refusals.items():
            assert refusal.reason in cluster_reasons(fleet[name], deployment, cache)

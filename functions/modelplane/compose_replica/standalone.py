"""An engine of one Standalone member: a Deployment of its copies, and the claim template of their devices."""

from typing import Any

from modelplane.compose_replica.member import claim_of
from modelplane.compose_replica.serving_pod import serving_pod
from modelplane.compose_replica.site import Site
from modelplane.compose_replica.spec import Engine
from modelplane.compose_replica.standing import DEPLOYMENT_READY
from modelplane.kube.workload import deployment
from modelplane.model.deployment import Role


def compose(site: Site, engine: Engine) -> dict[str, dict[str, Any]]:
    """Return the Objects of the engine by composition resource name.

    The name carries the kind: an engine that becomes a gang is another resource, and the Deployment goes.
    """
    member, name = engine.member(Role.STANDALONE), site.workload(engine.name)
    pod = serving_pod(site, engine, member, member.container)
    workload = deployment(name, site.namespace, site.labels, copies=engine.copies, template=pod)
    objects = dict(claim_of(site, engine, member).objects)
    objects[f"deployment-{engine.name}"] = site.place(workload, ready_when=DEPLOYMENT_READY, watch=True)
    return objects

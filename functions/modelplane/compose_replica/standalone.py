"""An engine of one Standalone member: a Deployment of its copies, and the claim template of their devices."""

from typing import Any

from modelplane.compose_replica.instance import Instance
from modelplane.compose_replica.member import claim_of
from modelplane.compose_replica.serving_pod import serving_pod
from modelplane.compose_replica.spec import Engine
from modelplane.compose_replica.standing import DEPLOYMENT_READY
from modelplane.kube.workload import deployment
from modelplane.model.deployment import Role


def compose(instance: Instance, engine: Engine) -> dict[str, dict[str, Any]]:
    """Return the Objects of the engine by composition resource name.

    The name carries the kind: an engine that becomes a gang is another resource, and the Deployment goes.
    """
    member, name = engine.member(Role.STANDALONE), instance.workload(engine.name)
    pod = serving_pod(instance, engine, member, member.container)
    workload = deployment(name, instance.site.namespace, instance.labels, copies=engine.copies, template=pod)
    objects = dict(claim_of(instance, engine, member).objects)
    objects[f"deployment-{engine.name}"] = instance.site.place(workload, ready_when=DEPLOYMENT_READY, watch=True)
    return objects

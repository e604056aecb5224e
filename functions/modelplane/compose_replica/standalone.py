"""An engine of one Standalone member: a Deployment of its copies, and the claim template of their devices."""

from typing import Any

from modelplane.compose_replica.site import Site
from modelplane.compose_replica.spec import Engine, Member
from modelplane.compose_replica.standing import DEPLOYMENT_READY
from modelplane.kube.claim import claim_template
from modelplane.kube.pod import EnginePod, pod_template, serving
from modelplane.kube.workload import deployment


def _pod(site: Site, engine: Engine, member: Member, claim: str | None) -> dict[str, Any]:
    return pod_template(
        EnginePod(
            workload=site.workload(engine.name),
            pool=member.pool,
            container=serving(member.container),
            labels={**member.labels, **site.labels},
            annotations=member.annotations,
            deployment=site.deployment,
            claim=claim,
            pull_secrets=member.pull_secrets,
        )
    )


def compose(site: Site, engine: Engine) -> dict[str, dict[str, Any]]:
    """Return the Objects of the engine by composition resource name.

    The name carries the kind: an engine that becomes a gang is another resource, and the Deployment goes. It carries
    the claim template's name too, which is another one for other content.
    """
    member, name, objects = engine.members[0], site.workload(engine.name), {}
    claim = None
    if member.requests:
        template = claim_template(name, site.namespace, site.labels, member.requests)
        claim = str(template["metadata"]["name"])
        objects[f"resourceclaimtemplate-{claim}"] = site.place(template)
    workload = deployment(
        name, site.namespace, site.labels, copies=engine.copies, template=_pod(site, engine, member, claim)
    )
    objects[f"deployment-{engine.name}"] = site.place(workload, ready_when=DEPLOYMENT_READY, watch=True)
    return objects

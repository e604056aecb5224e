"""Which claim templates with earlier content must stay: those from which a workload may still make pods."""

from collections.abc import Mapping
from typing import Any

from modelplane.compose_replica.readiness import WORKLOAD_KINDS, is_rolling
from modelplane.observed.fields import mapping, text
from modelplane.observed.remote import Remote


def named_claims(value: Any) -> set[str]:
    """Return the claim templates that a workload's manifest names, at any depth."""
    if isinstance(value, Mapping):
        named = {text(value.get("resourceClaimTemplateName"))} - {""}
        return named.union(*map(named_claims, value.values()))
    return set().union(*map(named_claims, value)) if isinstance(value, list) else set()


def _uses(resource: str, remotes: Mapping[str, Remote], claim: str) -> bool:
    workload = remotes[resource]
    if workload.manifest is None:
        return claim in named_claims(workload.wanted)
    return claim in named_claims(workload.manifest) or is_rolling(resource, remotes)


def is_claim_template(remote: Remote) -> bool:
    """Tell whether an Object is that of a claim template."""
    return remote.kind == "ResourceClaimTemplate"


def used_templates(remotes: Mapping[str, Remote]) -> dict[str, list[str]]:
    """Return the observed claim templates that each observed workload still needs, by composition resource name.

    A template is needed until no workload names it and the rollout away from it is complete: an old pod that is lost
    before is made again from its own template.
    """
    templates = {
        resource: text(mapping(remote.wanted.get("metadata")).get("name"))
        for resource, remote in remotes.items()
        if is_claim_template(remote)
    }
    workloads = [resource for resource, remote in remotes.items() if remote.kind in WORKLOAD_KINDS]
    return {
        workload: [resource for resource, name in templates.items() if _uses(workload, remotes, name)]
        for workload in workloads
    }

"""How an Object treats what all replicas and caches of a team share on a cluster: its namespace and the NetworkPolicy.

Each of them has an Object of its own for it. provider-kubernetes applies under the Object's name (Server-Side Apply):
the object's managedFields list every Object that has ever applied it, and would grow with each replica that a team has
ever had. So an Object applies only where the object is not as wanted.
"""

from collections.abc import Mapping
from typing import Any

from modelplane.kube.object import KEPT, ORPHANED, Handling
from modelplane.observed.fields import mapping
from modelplane.observed.remote import Remote


def shared_handling(wanted: Mapping[str, Any], seen: Remote | None) -> Handling:
    """Return how the Object with the manifest `wanted` treats an object that others apply too; both leave it behind.

    `seen` is the observed Object. KEPT, which creates what is absent, while the object is not known or as wanted.
    ORPHANED, which applies it, where it is not, until that is in sync: labels that are no longer wanted go only if
    those who have applied them apply the manifest without them.
    """
    if seen is None or seen.manifest is None:
        return KEPT
    applying = seen.updates and (seen.synced is not True or seen.wanted != wanted)
    return ORPHANED if applying or _differs(seen.manifest, wanted, before=seen.wanted) else KEPT


def _differs(found: Mapping[str, Any], wanted: Mapping[str, Any], *, before: Mapping[str, Any]) -> bool:
    """Tell whether an object has another spec than `wanted`, lacks a label of it, or has one of `before` alone."""
    labels, there = _labels(wanted), _labels(found).items()
    dropped = {key: value for key, value in _labels(before).items() if key not in labels}
    other_spec = "spec" in wanted and wanted["spec"] != found.get("spec")
    return other_spec or not labels.items() <= there or not dropped.items().isdisjoint(there)


def _labels(manifest: Mapping[str, Any]) -> Mapping[str, str]:
    found = mapping(mapping(manifest.get("metadata")).get("labels"))
    return {key: value for key, value in found.items() if isinstance(value, str)}

"""How an Object treats what all replicas and caches of a team share on a cluster: its namespace and the NetworkPolicy.

Each of them has an Object of its own for it. provider-kubernetes applies under the Object's name (Server-Side Apply):
the object's managedFields list every Object that has ever applied it, and each Object repeats them in its status. Both
would grow with each replica that a team has ever had, so an Object applies only where the object is not as wanted.
"""

from collections.abc import Mapping
from typing import Any

from modelplane.kube.object import CLAIMED, ORPHANED, Handling
from modelplane.observed.fields import mapping
from modelplane.observed.remote import Remote


def shared_handling(wanted: Mapping[str, Any], seen: Remote | None) -> Handling:
    """Return how the Object with the manifest `wanted` treats an object that others apply too; both leave it behind.

    `seen` is the observed Object. CLAIMED, which creates what is absent, while the object is not known or as wanted.
    ORPHANED, which applies it, where it is not, and where the manifest has changed, until that is in sync: labels that
    are no longer wanted go only if those who have applied them apply the manifest without them.
    """
    if seen is None or seen.manifest is None:
        return CLAIMED
    applying = seen.updates and seen.synced is not True
    return ORPHANED if applying or seen.wanted != wanted or _lacks(seen.manifest, wanted) else CLAIMED


def _lacks(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Tell whether an object on a cluster lacks labels that are wanted, or has another spec."""
    labels = mapping(mapping(found.get("metadata")).get("labels"))
    other_spec = "spec" in wanted and wanted["spec"] != found.get("spec")
    return other_spec or not wanted["metadata"].get("labels", {}).items() <= labels.items()

"""What a cluster of the preview has of the serving stack: nothing but what is Present, until Modelplane installs it."""

from collections.abc import Iterable

from modelplane.model.names import GROUP
from modelplane.preview.store import View
from modelplane.reading.kinds import Key
from modelplane.reading.tree import Manifest, child, items, mapping
from modelplane.stack import PARTS, Part

_STACK = f"ServingStack.{GROUP}"
_PARTS = {facts.shown_by: part for part, facts in PARTS.items()}
#: The provider's message for what it only observes and does not exist.
ABSENT = "external resource does not exist"


def is_absent_release(release: Manifest) -> bool:
    """Tell whether a Release only observes, and the cluster has none of its name: none was installed by it before."""
    policies = list(child(release, "spec", "managementPolicies") or ())
    return policies == ["Observe"] and not child(release, "status", "atProvider", "state")


def is_absent_part(view: View, obj: Manifest, releases: Iterable[Manifest]) -> bool:
    """Tell whether an Object of a ServingStack observes what shows a part, and the cluster does not have the part."""
    owner = next((each for each in items(obj, "metadata", "ownerReferences") if each.get("controller")), {})
    manifest = mapping(obj, "spec", "forProvider", "manifest")
    name = str(child(manifest, "metadata", "name") or "")
    part = _PARTS.get((str(manifest.get("apiVersion")), str(manifest.get("kind")), name))
    if owner.get("kind") != "ServingStack" or part is None:
        return False
    return not _is_present(view, obj, str(owner.get("name")), part) and not _is_installed(obj, releases, part)


def _is_present(view: View, obj: Manifest, stack: str, part: Part) -> bool:
    found = view.peek(Key(_STACK, obj["metadata"]["namespace"], stack))
    return found is not None and child(found, "spec", "parts", str(part)) == "Present"


def _is_installed(obj: Manifest, releases: Iterable[Manifest], part: Part) -> bool:
    charts = {chart.name for chart in PARTS[part].charts}
    config = child(obj, "spec", "providerConfigRef", "name")
    return any(
        child(each, "spec", "forProvider", "chart", "name") in charts
        and child(each, "spec", "providerConfigRef", "name") == config
        and bool(child(each, "status", "atProvider", "state"))
        for each in releases
    )

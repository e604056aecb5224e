"""The objects of Modelplane's inventory that a ServingStack composes, and what keeps it from being composed."""

from dataclasses import replace
from typing import Final

from modelplane.api.servingstack import ServingStackSpec
from modelplane.compose_cluster.stack_observation import INVENTORY_PART, INVENTORY_WORKLOAD, Reach
from modelplane.kube.images import Image, architectures, unnamed_image
from modelplane.kube.inventory import around, config_map, deployment
from modelplane.kube.object import KEPT, ORPHANED, Handling
from modelplane.stack import Part, State, Verdicts
from modelplane.step import Manifest

#: As the releases of charts it stays when the ServingStack goes. Its counts are read.
_WATCHED: Final = Handling(policies=("Observe", "Create", "Update"), watch=True, seldom=True)


def inventory_bodies(reach: Reach, spec: ServingStackSpec) -> dict[str, Manifest]:
    """Return the Objects of the inventory by composition resource name, none while its image is not known."""
    if unnamed_image():
        return {}
    found = {f"{INVENTORY_PART}{name}": reach.observer(each, ORPHANED) for name, each in around().items()}
    found[f"{INVENTORY_PART}document"] = reach.observer(config_map(), KEPT)
    tolerations = [each.model_dump(mode="json", exclude_none=True) for each in spec.tolerations or ()]
    values = (spec.values or {}).get(Part.INVENTORY)
    pod = deployment(Image.MODELPLANE.reference, architectures(), values=values, tolerations=tolerations)
    found[INVENTORY_WORKLOAD] = reach.observer(pod, _WATCHED)
    return found


def unusable_inventory(verdicts: Verdicts) -> Verdicts:
    """Return the verdicts with that on the inventory as it is where its image is not known."""
    why = unnamed_image()
    if not why:
        return verdicts
    parts = (
        replace(each, state=State.MISSING, message=why, runs=False)
        if each.part is Part.INVENTORY and each.state is not State.RUNNING
        else each
        for each in verdicts.parts
    )
    return replace(verdicts, parts=tuple(parts))

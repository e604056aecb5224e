"""The outcome of a preview, as the JSON that `modelplane preview -o json` prints, and its exit code."""

from collections.abc import Collection, Iterable
from typing import Final

from modelplane.preview.control_plane import ControlPlane
from modelplane.preview.others import find_others, is_refused
from modelplane.reading import deployments
from modelplane.reading.fleet import clusters_as_json, read_clusters
from modelplane.reading.kinds import Key, key_of
from modelplane.reading.tree import Manifest, Tree
from modelplane.step.secrets import mask_secrets, seal_secrets

PREVIEW_VERSION: Final = "preview.modelplane.ai/v1alpha1"
PLACED, REFUSED, BAD_INPUT, UNSETTLED = 0, 1, 2, 3


def report(control: ControlPlane, *, settled: bool, given: Iterable[Key] = (), assumed: Collection[Key] = ()) -> Tree:
    """Return the outcome of a preview: the fleet, every deployment, the other given objects, and all objects.

    `settled` is what `settle` returned, `given` the objects of the input. Secrets are sealed, and the `assumed` ones,
    which the input does not have, are left out.
    """
    view = control.view()
    return {
        "apiVersion": PREVIEW_VERSION,
        "settled": settled,
        "passes": control.passes,
        "clusters": clusters_as_json(read_clusters(view)),
        "deployments": deployments.deployments(view),
        "others": find_others(view, given),
        "objects": [
            dict(mask_secrets(seal_secrets(obj))) for obj in control.everything() if key_of(obj) not in assumed
        ],
    }


def exit_code(outcome: Manifest, refused: Collection[object]) -> int:
    """Return 0 when everything is placed and Ready, 1 when something is not, 3 when the preview did not settle."""
    if not outcome["settled"]:
        return UNSETTLED
    unplaced = any(each["unplaced"] or not serves(each) for each in outcome["deployments"])
    return REFUSED if refused or unplaced or any(map(is_refused, outcome["others"])) else PLACED


def serves(deployment: Manifest) -> bool:
    """Tell whether a deployment is Ready, which every valid one becomes in a healthy world."""
    return any(each["type"] == "Ready" and each["status"] == "True" for each in deployment["conditions"])


def refusals(control: ControlPlane) -> list[tuple[str, str]]:
    """Return the refused objects (`Kind namespace/name`) with why, except those that lack an input."""
    # The error of a pass whose status could not be written appears in no condition.
    failed = {key: why for key, why in control.errors.items() if control.get(*key)}
    found = {**failed, **deployments.refusals(control.view())}
    return [(_named(key), why) for key, why in sorted(found.items())]


def _named(key: Key) -> str:
    return f"{key.kind.partition('.')[0]} {'/'.join(filter(None, key[1:]))}"

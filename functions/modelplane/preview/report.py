"""The outcome of a preview, as the JSON that `modelplane preview -o json` prints, and its exit code."""

from collections.abc import Collection

from modelplane.preview.control_plane import ControlPlane
from modelplane.reading import deployments
from modelplane.reading.kinds import Key
from modelplane.reading.tree import Manifest, Tree
from modelplane.step.secrets import mask_secrets, seal_secrets

PLACED, REFUSED, BAD_INPUT, UNSETTLED = 0, 1, 2, 3


def report(control: ControlPlane, *, settled: bool) -> Tree:
    """Return the outcome of a preview: every deployment's placements and shortfall, and every object, Secrets sealed.

    `settled` is what `settle` returned.
    """
    return {
        "settled": settled,
        "passes": control.passes,
        "deployments": deployments.deployments(control.view()),
        "objects": [dict(mask_secrets(seal_secrets(obj))) for obj in control.everything()],
    }


def exit_code(outcome: Manifest, refused: Collection[object]) -> int:
    """Return 0 when everything is placed, 1 when something is unplaced or refused, 3 when it did not settle."""
    if not outcome["settled"]:
        return UNSETTLED
    return REFUSED if refused or any(deployment["unplaced"] for deployment in outcome["deployments"]) else PLACED


def refusals(control: ControlPlane) -> list[tuple[str, str]]:
    """Return what was refused although nothing is missing for it, each object (`Kind namespace/name`) with why."""
    # The error of a pass whose status could not be written stands in no condition.
    failed = {key: why for key, why in control.errors.items() if control.get(*key)}
    found = {**failed, **deployments.refusals(control.view())}
    return [(_named(key), why) for key, why in sorted(found.items())]


def _named(key: Key) -> str:
    return f"{key.kind.partition('.')[0]} {'/'.join(filter(None, key[1:]))}"

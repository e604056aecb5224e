"""Secrets and ConfigMaps that are not in the input of a preview, and are assumed to exist.

What kubectl exports of our kinds holds none of them. `assume` is not part of ControlPlane: whoever uses that says
itself what there is.
"""

from typing import Final

from modelplane.preview.control_plane import ControlPlane
from modelplane.reading.kinds import Key

_KINDS: Final = ("Secret", "ConfigMap")


def settle_assuming(control: ControlPlane, assumed: list[Key]) -> bool:
    """Settle, with every Secret and ConfigMap that is asked for and not there; they are added to `assumed`."""
    settled = control.settle()
    while settled and (missing := [key for kind in _KINDS for key in control.missing(kind)]):
        for key in missing:
            metadata = {"name": key.name, "namespace": key.namespace}
            control.apply({"apiVersion": "v1", "kind": key.kind, "metadata": metadata})
        assumed += missing
        settled = control.settle()
    return settled

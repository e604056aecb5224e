"""Secrets and ConfigMaps that are not in the input of a preview, and are assumed to exist.

What kubectl exports of our kinds holds none of them. `assume` is not part of ControlPlane: whoever uses that says
itself what there is.
"""

from typing import Final

from modelplane.model.names import INSTALLATION, SYSTEM_NAMESPACE
from modelplane.preview.control_plane import ControlPlane
from modelplane.reading.kinds import Key

_KINDS: Final = ("Secret", "ConfigMap")
#: What is asked for and need not exist.
_OPTIONAL: Final = Key("ConfigMap", SYSTEM_NAMESPACE, INSTALLATION)


def _missing(control: ControlPlane) -> list[Key]:
    return [key for kind in _KINDS for key in control.missing(kind) if key != _OPTIONAL]


def settle_assuming(control: ControlPlane, assumed: list[Key]) -> bool:
    """Settle, with every Secret and ConfigMap that is asked for and not there; they are added to `assumed`."""
    settled = control.settle()
    while settled and (missing := _missing(control)):
        for key in missing:
            metadata = {"name": key.name, "namespace": key.namespace}
            control.apply({"apiVersion": "v1", "kind": key.kind, "metadata": metadata})
        assumed += missing
        settled = control.settle()
    return settled

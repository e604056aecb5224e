"""An offline control plane: runs the same functions over a folder of manifests to a fixed point."""

from modelplane.preview.admission import InvalidObject
from modelplane.preview.control_plane import ControlPlane
from modelplane.preview.reconciler import Pass
from modelplane.preview.store import View
from modelplane.preview.worlds import healthy

__all__ = ["ControlPlane", "InvalidObject", "Pass", "View", "healthy"]

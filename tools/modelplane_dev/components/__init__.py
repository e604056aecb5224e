"""The real components that tests and users run, each set built from its own pinned Go module into a cache.

The cache lies outside the tree, one folder a set, named by the content of the set's folder and its build flags: a
folder that is there is complete, and any change of a pin gets a folder of its own. Only the standard library is used.
"""

from modelplane_dev.components.builds import build, fetched, path, source
from modelplane_dev.components.sets import SETS, WHEELS, ComponentError
from modelplane_dev.components.sources import CORE, PROVIDER, core_crds, core_meta_crds, provider_crds

__all__ = [
    "CORE",
    "PROVIDER",
    "SETS",
    "WHEELS",
    "ComponentError",
    "build",
    "core_crds",
    "core_meta_crds",
    "fetched",
    "path",
    "provider_crds",
    "source",
]

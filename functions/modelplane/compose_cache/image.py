"""The image that downloads: the functions' own, which has the program `modelplane hydrate`."""

import os

from modelplane import __version__

#: Environment variable of this function that names the image where an installation keeps it elsewhere.
VARIABLE = "MODELPLANE_IMAGE"


def hydrate_image() -> str:
    """Return the image of hydration Jobs."""
    return os.environ.get(VARIABLE) or f"modelplane:v{__version__}"

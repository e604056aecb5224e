"""The image that downloads: the functions' own, which has the program `modelplane hydrate`."""

import os

from modelplane import __version__

#: Environment variable that names the image: `make package` stamps it, an installation may overrule it.
VARIABLE = "MODELPLANE_IMAGE"
#: What the image is named below the registry that the packages are pushed to.
IMAGE = f"modelplane-compose-cache:v{__version__}"


def hydrate_image() -> str:
    """Return the image of hydration Jobs."""
    return os.environ.get(VARIABLE) or IMAGE

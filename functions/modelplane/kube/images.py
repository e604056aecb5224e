"""The images, with versions, that Modelplane runs on inference clusters; an installation can replace each of them.

A replacement is set by an environment variable of the functions (install/functions.yaml), for example if inference
clusters pull from a mirror.
"""

import os
from enum import Enum

from modelplane import __version__


class Image(Enum):
    """An image: the environment variable that replaces it, and its default."""

    #: The functions' own, which has the program `modelplane hydrate`. Packages that are built for a registry set its
    #: variable; the default is its name below a registry.
    MODELPLANE = ("MODELPLANE_IMAGE", f"modelplane-compose-cache:v{__version__}")
    #: Chooses the pod of an InferencePool that serves a request.
    ENDPOINT_PICKER = ("MODELPLANE_IMAGE_ENDPOINT_PICKER", "ghcr.io/llm-d/llm-d-router-endpoint-picker:v0.9.0")
    #: Has prompts processed by a prefill engine before its decode engine answers.
    DECODE_SIDECAR = ("MODELPLANE_IMAGE_DECODE_SIDECAR", "ghcr.io/llm-d/llm-d-router-disagg-sidecar:v0.9.0")

    def __init__(self, variable: str, default: str) -> None:
        self.variable = variable
        self.default = default

    @property
    def reference(self) -> str:
        """Return the image reference for a container."""
        return os.environ.get(self.variable) or self.default


def unnamed_image() -> str:
    """Return that the functions' image is not known, "" if it is: its default would mean any registry's."""
    variable = Image.MODELPLANE.variable
    if os.environ.get(variable):
        return ""
    return (
        f"environment variable {variable} of modelplane-compose-cache is not set. Set it in install/functions.yaml to "
        "the image of that function, with its registry"
    )


#: Environment variable with the architectures of the functions' image, separated by commas. `make package` sets it.
ARCHITECTURES_VARIABLE = "MODELPLANE_IMAGE_ARCHITECTURES"
_ARCHITECTURES = "amd64"


def architectures() -> list[str]:
    """Return the architectures of the functions' image, as in nodes' labels, sorted."""
    named = os.environ.get(ARCHITECTURES_VARIABLE) or _ARCHITECTURES
    return sorted({each.strip() for each in named.split(",")} - {""})

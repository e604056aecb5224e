"""The images that Modelplane runs on inference clusters, at their versions; an installation can replace each of them.

A replacement is an environment variable of the functions (install/functions.yaml), for example where inference clusters
pull from a mirror.
"""

import os
from enum import Enum

from modelplane import __version__


class Image(Enum):
    """An image: the environment variable that replaces it, and what is pulled without one."""

    #: The functions' own, which has the program `modelplane hydrate`. `make package` sets its variable.
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
        """Return what a container names as its image."""
        return os.environ.get(self.variable) or self.default


#: Names, divided by commas, what the functions' own image is built for. `make package` sets it.
ARCHITECTURES_VARIABLE = "MODELPLANE_IMAGE_ARCHITECTURES"
_ARCHITECTURES = "amd64"


def architectures() -> list[str]:
    """Return the architectures that the functions' own image is built for, as nodes are labelled, sorted."""
    named = os.environ.get(ARCHITECTURES_VARIABLE) or _ARCHITECTURES
    return sorted({each.strip() for each in named.split(",")} - {""})

"""Where an installation gets the charts of the serving stack and their images from, by environment variables.

They are set in install/functions.yaml: a mirror or an air gap is one place for charts and one for images. The digest of
a chart is that of its manifest in a registry, which says when it was pushed: it can be read there alone, so that no
default of it can stand here.
"""

import os
import re
from collections.abc import Mapping
from typing import Any, Final

from modelplane.stack import CHARTS, Chart
from modelplane.stack.images import IMAGES

#: Where all charts come from, instead of the places in the table: `oci://`, then a path.
CHARTS_VARIABLE: Final = "MODELPLANE_CHARTS"
#: Where the images of all charts come from: a host, then a path. Their own path follows it, without their host.
IMAGES_VARIABLE: Final = "MODELPLANE_CHART_IMAGES"
#: Digests by chart, `NAME=sha256:...`, apart by commas or spaces.
DIGESTS_VARIABLE: Final = "MODELPLANE_CHART_DIGESTS"
_OCI: Final = "oci://"
_PLACE: Final = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*/?")
_DIGEST: Final = re.compile(r"sha256:[a-f0-9]{64}")
_SETTINGS: Final = "in install/functions.yaml"


def wrong_settings() -> str:
    """Return why what an installation sets cannot be used, "" if it can, or nothing is set."""
    return _wrong_prefix() or _wrong_images() or _wrong_digests()


def _wrong_prefix() -> str:
    prefix = os.environ.get(CHARTS_VARIABLE, "")
    if not prefix or (prefix.startswith(_OCI) and _PLACE.fullmatch(prefix.removeprefix(_OCI))):
        return ""
    return (
        f"environment variable {CHARTS_VARIABLE} is {prefix!r}, and charts come from OCI registries alone. Set it to "
        f"{_OCI}HOST/PATH {_SETTINGS}"
    )


def _wrong_images() -> str:
    prefix = os.environ.get(IMAGES_VARIABLE, "")
    if not prefix or _PLACE.fullmatch(prefix):
        return ""
    return (
        f"environment variable {IMAGES_VARIABLE} is {prefix!r}, and the name of an image begins with the host of a "
        f"registry. Set it to HOST/PATH {_SETTINGS}"
    )


def _wrong_digests() -> str:
    found: dict[str, str] = {}
    for name, digest in _digests():
        if name not in CHARTS:
            return (
                f"environment variable {DIGESTS_VARIABLE} names {name!r}, which is no chart of the serving stack. "
                f"The charts are {', '.join(CHARTS)}. Correct it {_SETTINGS}"
            )
        if not _DIGEST.fullmatch(digest):
            return (
                f"environment variable {DIGESTS_VARIABLE} has {digest!r} for {name}, and a digest is sha256: and 64 "
                f"characters of 0-9 and a-f. Correct it {_SETTINGS}"
            )
        if other := next((each for each, known in found.items() if known == digest and each != name), None):
            return (
                f"environment variable {DIGESTS_VARIABLE} has the same digest for {other} and {name}: one of them is "
                f"another chart's. Correct it {_SETTINGS}"
            )
        found[name] = digest
    return ""


def _digests() -> list[tuple[str, str]]:
    entries = os.environ.get(DIGESTS_VARIABLE, "").replace(",", " ").split()
    return [(name, digest) for name, _, digest in (each.partition("=") for each in entries)]


def chart_spec(chart: Chart) -> dict[str, str]:
    """Return where a Release gets a chart from."""
    repository = os.environ.get(CHARTS_VARIABLE, "").rstrip("/") or chart.repository
    digest = dict(_digests()).get(chart.name)
    spec = {"name": chart.name, "repository": repository, "version": chart.version}
    return spec | ({"digest": digest} if digest else {})


def values_of(chart: Chart, override: Mapping[str, Any] | None = None, *, alone: bool = False) -> dict[str, Any]:
    """Return the values that a chart is installed with: its own, where its images come from, then the `override`.

    `alone`: no part is asked for that is set up in them.
    """
    prefix = images_prefix()
    images = IMAGES[chart.name](prefix) if prefix else {}
    own = chart.values if chart.alone is None or not alone else chart.alone
    return merged(merged(own, images), override or {})


def images_prefix() -> str:
    """Return where images come from, "" for where each of them is published."""
    return os.environ.get(IMAGES_VARIABLE, "").rstrip("/")


def merged(values: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return values with others over them, as Helm merges two files: maps by key, anything else as a whole."""
    found = dict(values)
    for key, value in over.items():
        below = found.get(key)
        found[key] = merged(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
    return found

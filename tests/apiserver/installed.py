"""A file of install/ on the real API server for as long as a test needs it, and what it refuses whom."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import yaml

from apiserver.server import Server
from modelplane_dev.folders import ROOT
from modelplane_dev.plane.api import Api, ApiError
from modelplane_dev.plane.waiting import eventually

Manifest = dict[str, Any]
#: Seconds after which a policy that was applied or deleted is in force, or no more.
IN_FORCE = 60.0


@contextmanager
def installed(
    server: Server,
    file: str,
    *more: Manifest,
    in_force: Callable[[], None] = lambda: None,
    lifted: Callable[[], None] = lambda: None,
) -> Iterator[Server]:
    """Apply a file of install/ and more, and take it away afterwards; both wait until their assertion holds."""
    api, made = server.cluster.api, [*yaml.safe_load_all((ROOT / "install" / file).read_text()), *more]
    for manifest in made:
        api.apply(manifest)
    try:
        eventually(in_force, within=IN_FORCE)
        yield server
    finally:
        for manifest in reversed(made):
            api.request("DELETE", f"{server.path(manifest)}/{manifest['metadata']['name']}")
        eventually(lifted, within=IN_FORCE)


def refusal(server: Server, user: str, manifest: Manifest) -> str:
    """Return the words with which a user is refused to create an object, "" where the server would take it."""
    return Server(server.cluster, server.resources, server.cluster.api_of(user)).refusal(manifest)


def refusal_of_change(api: Api, path: str, change: Manifest) -> str:
    """Return the words with which a change is refused, "" where the server would take it."""
    try:
        api.request("PATCH", f"{path}?dryRun=All", change, "application/merge-patch+json")
    except ApiError as error:
        return str(error)
    return ""

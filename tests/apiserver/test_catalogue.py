"""Whether a ClusterModel may be deleted, by the policy of install/."""

from collections.abc import Iterator

import pytest

from apiserver.installed import installed
from apiserver.server import Server
from modelplane_dev.plane.api import ApiError
from unit.api.cases import example


@pytest.fixture(scope="module")
def guarded(server: Server) -> Iterator[Server]:
    """Apply the policy of install/."""
    with installed(server, "catalogue.yaml") as running:
        yield running


def _path(server: Server, replicas: int | None) -> str:
    """Make a ClusterModel on which so many replicas run, None for one that has not been counted; return its path."""
    model = example("ClusterModel")
    server.cluster.api.apply(model)
    path = f"{server.path(model)}/{model['metadata']['name']}"
    if replicas is not None:
        body = {"status": {"replicas": replicas}}
        server.cluster.api.request("PATCH", f"{path}/status", body, "application/merge-patch+json")
    return path


def _refusal(server: Server, path: str) -> str:
    try:
        server.cluster.api.request("DELETE", f"{path}?dryRun=All")
    except ApiError as error:
        return str(error)
    return ""


def test_a_model_is_deleted_once_no_replica_runs_on_it(guarded: Server) -> None:
    api, path = guarded.cluster.api, _path(guarded, 3)

    words = _refusal(guarded, path)
    assert "ClusterModel gemma-3-27b is in use by 3 ModelReplicas" in words
    assert "let their deployments name another one first" in words
    _path(guarded, 0)
    api.request("DELETE", path)
    api.request("DELETE", _path(guarded, None))

"""`modelplane observe` on a real API server, with the rights of install/observe: what a scrape says, and soon after."""

import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import yaml
from prometheus_client.parser import text_string_to_metric_families

from apiserver.server import Server
from given.manifests import cluster, deployment
from modelplane.model.names import SYSTEM_NAMESPACE
from modelplane_dev.folders import ROOT
from modelplane_dev.plane.api import ApiError
from modelplane_dev.plane.cluster import namespace
from modelplane_dev.plane.waiting import eventually
from modelplane_dev.processes.functions import MODELPLANE
from modelplane_dev.processes.ports import free_port, listens

Manifest = dict[str, Any]
INSTALLED: list[Manifest] = [
    each
    for each in yaml.safe_load_all((ROOT / "install/observe/observe.yaml").read_text())
    if each["kind"] != "Deployment"
]


@contextmanager
def _observing(server: Server, folder: Path) -> Iterator[int]:
    """Yield the port at which the process answers scrapes."""
    api, port = server.cluster.api, free_port()
    for manifest in (namespace("envoy-gateway-system"), *INSTALLED):
        api.apply(manifest)
    (folder / "token").write_text(server.cluster.account_token(SYSTEM_NAMESPACE, "modelplane-observe"))
    files = ("--token-file", folder / "token", "--ca-file", server.cluster.run.certificates.authority)
    command = (MODELPLANE, "observe", "--server", server.cluster.address, *files)
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([*command, "--metrics-address", f"127.0.0.1:{port}"], stderr=log)
        try:
            eventually(lambda: _is_up(port), within=60)
            yield port
        finally:
            process.terminate()
            process.wait(30)
    for manifest in reversed(INSTALLED):
        api.request("DELETE", f"{server.path(manifest)}/{manifest['metadata']['name']}")


def _is_up(port: int) -> None:
    assert listens(port)


def _scrape(port: int) -> dict[str, list[tuple[dict[str, str], float]]]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as response:
        text = response.read().decode()
    found: dict[str, list[tuple[dict[str, str], float]]] = {}
    for each in (sample for family in text_string_to_metric_families(text) for sample in family.samples):
        found.setdefault(each.name, []).append((each.labels, each.value))
    return found


def test_a_scrape_follows_the_fleet(server: Server, tmp_path: Path) -> None:
    api = server.cluster.api
    asked = deployment(replicas=3)
    path = f"{server.path(asked)}/{asked['metadata']['name']}"
    named = {"namespace": asked["metadata"]["namespace"], "deployment": asked["metadata"]["name"], "state": "desired"}
    made = [{key: value for key, value in each.items() if key != "status"} for each in (cluster("east"), asked)]
    with _observing(server, tmp_path) as port:
        try:
            for each in made:
                api.apply(each)

            def counted(replicas: float | None) -> None:
                found = [value for labels, value in _scrape(port)["modelplane_deployment_replicas"] if labels == named]
                assert found == ([] if replicas is None else [replicas])

            eventually(lambda: counted(3), within=60)
            api.request("PATCH", path, {"spec": {"replicas": 5}}, "application/merge-patch+json")
            eventually(lambda: counted(5), within=30)
            heard = _scrape(port)["modelplane_observe_last_event_timestamp_seconds"]
            assert all(at > 0 for _, at in heard), heard
            api.request("DELETE", path)

            def gone() -> None:
                assert named not in [labels for labels, _ in _scrape(port).get("modelplane_deployment_replicas", [])]

            eventually(gone, within=30)
        finally:
            for each in made:
                at = f"{server.path(each)}/{each['metadata']['name']}"
                with suppress(ApiError):
                    api.request("DELETE", at)


def test_its_rights_read_our_kinds_and_no_secret(server: Server, tmp_path: Path) -> None:
    with _observing(server, tmp_path):
        user = f"system:serviceaccount:{SYSTEM_NAMESPACE}:modelplane-observe"

        def allowed(verb: str, group: str, resource: str) -> bool:
            asked = {"verb": verb, "group": group, "resource": resource, "namespace": "ml"}
            review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview"}
            spec = {"user": user, "resourceAttributes": asked}
            answer = server.cluster.api.request(
                "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {**review, "spec": spec}
            )
            return bool(answer["status"]["allowed"])

        def bound() -> None:
            assert allowed("watch", "modelplane.ai", "modelreplicas")

        eventually(bound, within=30)
        assert not allowed("list", "", "secrets")
        assert not allowed("get", "", "secrets")
        assert not allowed("patch", "modelplane.ai", "modeldeployments")
        assert not allowed("list", "", "pods")

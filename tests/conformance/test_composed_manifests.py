"""What we compose is what the real schemas take: Kubernetes' own kinds, provider-kubernetes' and Crossplane's."""

import json
import subprocess
from pathlib import Path
from typing import Any

import yaml

import engines
from unit.compose_cluster import clusters
from unit.compose_replica import replicas

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "unit" / "compose_replica" / "golden" / "standalone.replica.yaml"


def _replica() -> list[dict[str, Any]]:
    """Return the Objects of a replica that has all it can have, each with its manifest, and its own status."""
    body = yaml.safe_load(GOLDEN.read_text())
    objects = [dict(desired.build()) for desired in replicas.run(body).desired.values()]
    manifests = [found["spec"]["forProvider"]["manifest"] for found in objects]
    status = replicas.run(body, replicas.serving(body)).status
    return [*objects, *manifests, body | {"status": status}]


def _cluster() -> list[dict[str, Any]]:
    """Return everything an InferenceCluster composes, and its own status."""
    body = clusters.cluster()
    identity = {"name": "sa", "key": "k", "type": "GoogleApplicationCredentials"}
    body["spec"]["cluster"]["existing"]["identitySecretRef"] = identity
    result = clusters.run(body, clusters.reached())
    return [*clusters.bodies(result).values(), body | {"status": clusters.status(result)}]


def _named(number: int, body: dict[str, Any]) -> dict[str, Any]:
    """Return the object under a name, as Crossplane gives one to what is composed without."""
    return {**body, "metadata": {"name": f"composed-{number}", **body["metadata"]}}


def test_every_composed_object_passes_the_schema_of_its_kind(tmp_path: Path) -> None:
    found = [_named(number, body) for number, body in enumerate([*_replica(), *_cluster()])]
    resources = tmp_path / "composed.yaml"
    resources.write_text("\n---\n".join(map(json.dumps, found)))
    schemas = f"{ROOT / 'apis'},{engines.provider_crds()},{engines.core_crds()}"
    command = [engines.path("crossplane"), "resource", "validate", schemas, resources, "-o", "json"]
    done = subprocess.run(
        [*command, "--crossplane-image=", f"--cache-dir={tmp_path}"], capture_output=True, text=True, check=False
    )
    report = json.loads(done.stdout)["resources"]
    assert [entry["name"] for entry in report] == [body["metadata"]["name"] for body in found]
    assert {entry["kind"]: entry["errors"] for entry in report if entry.get("errors")} == {}
    unknown = {entry["kind"] for entry in report if entry["status"] != "valid"}
    assert unknown == {"HTTPRoute"}, "only Gateway API's schemas are not at hand"

"""What the page on Argo CD says of the API server: the ConfigMap with the health of our kinds, and `spec.replicas`."""

import re
from pathlib import Path

import yaml

from apiserver.server import Server
from given.manifests import deployment
from modelplane_dev.folders import ROOT
from unit.api.argocd import KEY, scripts

#: The ConfigMap as Argo CD's own manifests leave it, with a setting of somebody's.
OWN = """
kubectl create namespace argocd
kubectl create configmap argocd-cm -n argocd --from-literal=url=https://argocd.example.org
kubectl label configmap argocd-cm -n argocd app.kubernetes.io/part-of=argocd
"""


def test_the_page_s_command_adds_the_health_of_our_kinds_and_leaves_the_rest(server: Server) -> None:
    page = (ROOT / "docs/deliver-with-argo-cd.md").read_text()
    (command,) = re.findall(r"^\$ (kubectl apply --server-side .+)$", page, re.MULTILINE)
    try:
        server.cluster.shell(f"{OWN}\n{command}\n{command}", ROOT)
        found = yaml.safe_load(server.cluster.shell("kubectl get configmap argocd-cm -n argocd -o yaml", ROOT))
    finally:
        server.cluster.shell("kubectl delete namespace argocd --wait=false", ROOT)
    assert found["metadata"]["labels"] == {"app.kubernetes.io/part-of": "argocd"}
    health = {f"{KEY}{kind}": script for kind, script in scripts().items()}
    assert found["data"] == {"url": "https://argocd.example.org", **health}


def test_a_manifest_without_replicas_leaves_them_and_one_that_loses_them_ends_replicas(
    server: Server, tmp_path: Path
) -> None:
    stated = deployment("scaled", replicas=2)
    unstated = deployment("scaled")
    del unstated["spec"]["replicas"]
    for name, made in (("stated", stated), ("unstated", unstated)):
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(made))

    def replicas(*commands: str) -> str:
        """Return the replicas after commands on a deployment that is new."""
        read = "kubectl get modeldeployment scaled -n team -o jsonpath={.spec.replicas}"
        try:
            server.cluster.shell("\n".join(commands), tmp_path)
            return server.cluster.shell(read, tmp_path)
        finally:
            server.cluster.shell("kubectl delete modeldeployment scaled -n team", tmp_path)

    scale = "kubectl scale modeldeployment scaled -n team --replicas=5"
    assert replicas("kubectl apply -f unstated.yaml", scale, "kubectl apply -f unstated.yaml") == "5"
    assert replicas("kubectl apply -f stated.yaml", scale, "kubectl apply -f stated.yaml") == "2"
    assert replicas("kubectl apply -f stated.yaml", scale, "kubectl apply -f unstated.yaml") == "1"

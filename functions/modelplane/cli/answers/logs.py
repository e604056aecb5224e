"""What `modelplane logs` does once its arguments are read."""

import base64
import sys
import tempfile
from pathlib import Path
from typing import Final

import click

from modelplane.cli.options import BAD_INPUT, Where
from modelplane.cli.refs import parse_ref, refuse_unknown
from modelplane.cli.source import connect, get_object, namespace_of, own, read_live, saying_why
from modelplane.live import Access, Kubectl, Resource, Server
from modelplane.model.names import LABEL_WORKLOAD, SYSTEM_NAMESPACE, tenant_namespace
from modelplane.reading.tree import Manifest, child, items

_SECRETS: Final = Resource("v1", "Secret", "secrets", namespaced=True)
_REVIEWS: Final = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


def show(where: Where, ref: str, context: str, kubeconfig: str, tail: int) -> None:
    """Print the logs of a replica's engines, or where their pods are."""
    with saying_why(), connect(where) as server:
        replica = _find(where, server, ref)
        cluster = str(child(replica, "spec", "clusterName") or "")
        found = None if context or kubeconfig else _kubeconfig(server, cluster)
    workloads = [str(each.get("name")) for each in items(replica, "status", "workloads")]
    namespace = tenant_namespace(replica["metadata"]["namespace"])
    selector = f"{LABEL_WORKLOAD} in ({','.join(workloads)})"
    if not workloads:
        click.echo(f"ModelReplica {ref} has no workloads yet: modelplane why replica/{ref}", err=True)
        sys.exit(BAD_INPUT)
    arguments = ["logs", f"--namespace={namespace}", f"--selector={selector}", "--all-containers", "--prefix"]
    arguments += [f"--tail={tail}", "--ignore-errors"]
    with saying_why():
        if found is not None:
            with tempfile.TemporaryDirectory(prefix="modelplane-") as folder:  # mode 0700
                file = Path(folder) / "kubeconfig"
                file.write_text(found)
                sys.exit(Kubectl(Access(kubeconfig=str(file))).replace(*arguments))
        if context or kubeconfig:
            sys.exit(Kubectl(Access(context=context, kubeconfig=kubeconfig)).replace(*arguments))
    click.echo(
        f"{cluster} is not reached: give --cluster-context or --cluster-kubeconfig of it. The pods are:", err=True
    )
    click.echo(f"  kubectl logs -n {namespace} -l '{selector}' --all-containers --prefix", err=True)
    sys.exit(BAD_INPUT)


def _find(where: Where, server: Server, ref: str) -> Manifest:
    key = parse_ref(ref if ref.count("/") > 1 else f"replica/{ref}")
    namespace = key.namespace or namespace_of(where, server)
    found = get_object(server, own("ModelReplica"), namespace, key.name)
    if found is None:
        listed = read_live(server, [own("ModelReplica")], namespace)
        refuse_unknown(listed.reader, key._replace(namespace=namespace), listed.gaps)
    return found


def _kubeconfig(server: Server, cluster: str) -> str | None:
    """Return the kubeconfig of an inference cluster, None if there is none, or its Secret may not be read."""
    found = get_object(server, own("InferenceCluster"), "", cluster)
    reference = child(found, "spec", "cluster", "existing", "secretRef")
    if not isinstance(reference, dict):
        return None
    name = str(reference.get("name"))
    attributes = {"verb": "get", "resource": "secrets", "namespace": SYSTEM_NAMESPACE, "name": name}
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview"}
    answer = server.post(_REVIEWS, {**review, "spec": {"resourceAttributes": attributes}})
    secret = get_object(server, _SECRETS, SYSTEM_NAMESPACE, name) if answer["status"].get("allowed") else None
    data = child(secret, "data", str(reference.get("key") or "kubeconfig"))
    return base64.b64decode(data).decode() if isinstance(data, str) else None

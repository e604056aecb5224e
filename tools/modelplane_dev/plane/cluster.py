"""A Kubernetes control plane: etcd, an API server with tokens for each user, and the controllers that are named."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from modelplane_dev import components
from modelplane_dev.plane.api import Api
from modelplane_dev.plane.certificates import Certificates
from modelplane_dev.processes.ports import free_port
from modelplane_dev.processes.process import Process

ADMIN = "admin"
CROSSPLANE = "crossplane"
#: Accounts of people in namespaces other than ours, with no rights but those that a test gives them.
TEAM = "team"
PLATFORM = "platform"
#: The service accounts that use an API server beside the admin, as an installation names them.
ACCOUNTS: Mapping[str, str] = {
    CROSSPLANE: "crossplane-system:crossplane",
    TEAM: "ml-team:developer",
    PLATFORM: "platform-team:operator",
    "rbac-manager": "crossplane-system:rbac-manager",
    "provider-kubernetes": "crossplane-system:modelplane-provider-kubernetes",
    "provider-helm": "crossplane-system:modelplane-provider-helm",
}
#: Seconds that a script on a page may take: longer than each of its commands waits.
SCRIPT = 2400.0
#: What the API servers say of each request: who, what and when, once it is answered.
_AUDIT = Path(__file__).with_name("audit.yaml")
EVERYWHERE = ("garbage-collector-controller", "namespace-controller")


@dataclass(frozen=True, slots=True)
class Run:
    """What all components of one run share: a folder for their files and logs, and the certificates."""

    folder: Path
    certificates: Certificates


def etcd(run: Run, port: int, name: str = "etcd") -> Process:
    """Return an etcd, whose data is in the folder of its name; each API server uses a prefix of its own."""
    client, peer = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{free_port()}"
    command: list[str | Path] = [components.path("etcd"), "--data-dir", run.folder / name, "--unsafe-no-fsync"]
    command += ["--listen-client-urls", client, "--advertise-client-urls", client]
    command += ["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer]
    command += ["--initial-cluster", f"default={peer}", "--log-level=warn"]
    return Process(name, run.folder, command)


@dataclass(frozen=True)
class Cluster:
    """One Kubernetes cluster by name. Nothing runs until its processes are entered, the API server first.

    `audited`: its API server writes `audit_log`, which takes a twentieth of its time.
    """

    run: Run
    name: str
    port: int
    etcd_port: int
    audited: bool = False

    @cached_property
    def api_server(self) -> Process:
        """Return the API server, with default admission except for ServiceAccount: no pod here mounts a token."""
        certificates, mine = self.run.certificates, self.run.folder / self.name
        mine.mkdir(exist_ok=True)
        tokens = [f'{_token(ADMIN)},{ADMIN},1,"system:masters"']
        for user, account in ACCOUNTS.items():
            namespace = account.split(":")[0]
            groups = f"system:serviceaccounts,system:serviceaccounts:{namespace}"
            tokens.append(f'{_token(user)},system:serviceaccount:{account},{user},"{groups}"')
        (mine / "tokens.csv").write_text("\n".join(tokens) + "\n")
        command: list[str | Path] = [
            components.path("kube-apiserver"),
            f"--etcd-servers=http://127.0.0.1:{self.etcd_port}",
            f"--etcd-prefix=/{self.name}",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            f"--secure-port={self.port}",
            f"--tls-cert-file={certificates.server}/tls.crt",
            f"--tls-private-key-file={certificates.server}/tls.key",
            f"--cert-dir={mine}",
            "--endpoint-reconciler-type=none",
            f"--token-auth-file={mine}/tokens.csv",
            "--authorization-mode=RBAC",
            f"--service-account-issuer={self.url}",
            f"--service-account-key-file={certificates.token_key}",
            f"--service-account-signing-key-file={certificates.token_key}",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--disable-admission-plugins=ServiceAccount",
        ]
        if self.audited:
            command += [f"--audit-policy-file={_AUDIT}", f"--audit-log-path={self.audit_log}"]
            command += ["--audit-log-maxsize=1000"]
        return Process(f"{self.name}-apiserver", self.run.folder, command)

    @property
    def audit_log(self) -> Path:
        """Return the audit log of the API server, a line of JSON for each request."""
        return self.run.folder / f"{self.name}-audit.log"

    @property
    def address(self) -> str:
        """Return the host and port of the API server."""
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """Return the URL of the API server."""
        return f"https://{self.address}"

    @cached_property
    def api(self) -> Api:
        """Return the client of the admin."""
        return self.api_of(ADMIN)

    def api_of(self, user: str) -> Api:
        """Return the client of a user."""
        return Api(self.url, _token(user), self.run.certificates.trust())

    def kubeconfig(self, user: str = ADMIN) -> Path:
        """Return a kubeconfig file of a user, everything inline."""
        return self._kubeconfig(user, _token(user))

    def account_kubeconfig(self, namespace: str, account: str) -> Path:
        """Return a kubeconfig file of a service account, as its pods would be given its token."""
        return self._kubeconfig(f"{namespace}-{account}", self.account_token(namespace, account))

    def account_token(self, namespace: str, account: str) -> str:
        """Return a token of a service account, as its pods would be given it."""
        asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
        found: str = self.api.request("POST", path, asked)["status"]["token"]
        return found

    def _kubeconfig(self, user: str, token: str) -> Path:
        """Return a kubeconfig file, written once and atomically, so that no reader sees a part of it."""
        path = self.run.folder / f"{self.name}-{user}.kubeconfig"
        if path.exists():
            return path
        server = {"server": self.url, "certificate-authority-data": self.run.certificates.bundle}
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": self.name,
            "clusters": [{"name": self.name, "cluster": server}],
            "users": [{"name": user, "user": {"token": token}}],
            "contexts": [{"name": self.name, "context": {"cluster": self.name, "user": user}}],
        }
        with tempfile.NamedTemporaryFile("w", dir=self.run.folder, delete=False) as unfinished:
            json.dump(content, unfinished)
        return Path(unfinished.name).rename(path)

    def kubectl(self, *arguments: str) -> str:
        """Return what kubectl prints, as the admin; assert that it succeeds."""
        command: list[str | Path] = [components.path("kubectl"), *arguments]
        done = subprocess.run(
            command, env=self.environment(), check=False, capture_output=True, text=True, timeout=SCRIPT
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def shell(self, script: str, directory: Path) -> str:
        """Return the output of a script whose kubectl talks to this cluster as the admin; assert that it succeeds."""
        done = subprocess.run(
            ["bash", "-euc", script],
            cwd=directory,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SCRIPT,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def environment(self) -> dict[str, str]:
        """Return the environment of a script whose kubectl, and modelplane, talk to this cluster as the admin."""
        programs = (components.path("kubectl").parent, Path(sys.executable).parent)
        path = os.pathsep.join((*map(str, programs), os.environ["PATH"]))
        cache = str(self.run.folder / f"{self.name}-kubectl")
        return {**os.environ, "PATH": path, "KUBECONFIG": str(self.kubeconfig()), "KUBECACHEDIR": cache}

    def controllers(self, names: Sequence[str], *options: str) -> Process:
        """Return kube-controller-manager with the controllers that are named."""
        command: list[str | Path] = [
            components.path("kube-controller-manager"),
            f"--kubeconfig={self.kubeconfig()}",
            "--leader-elect=false",
            "--secure-port=0",
            f"--controllers={','.join(names)}",
            *options,
        ]
        return Process(f"{self.name}-controllers", self.run.folder, command)


def _token(user: str) -> str:
    return f"token-of-{user}"


def namespace(name: str) -> dict[str, Any]:
    """Return the manifest of a Namespace."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}

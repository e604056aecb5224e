"""Stands in for cert-manager: real X.509 for what Certificates ask for, made by openssl, renewed before it expires.

Its controllers cannot be built from its module. This fake does what Modelplane relies on: the Secret of each
Certificate with tls.crt, tls.key and the ca.crt of the CA that has signed it, its labels, and the condition Ready.
"""

import base64
import contextlib
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from modelplane_dev.components import sources
from modelplane_dev.plane.api import ApiError, Kind, Manifest
from modelplane_dev.plane.cluster import Cluster
from modelplane_dev.plane.crossplane import crds, establish

CERTIFICATE = Kind("cert-manager.io/v1", "Certificate")
ISSUER = Kind("cert-manager.io/v1", "Issuer")
SECRET = Kind("v1", "Secret")
#: Seconds between two reads of the Certificates.
_PULSE = 1.0
_USAGES = {"client auth": "clientAuth", "server auth": "serverAuth", "digital signature": ""}
_NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
_SIGNING = """
[ca]
default_ca = this
[this]
new_certs_dir = .
database = index
rand_serial = yes
unique_subject = no
default_md = sha256
policy = any
[any]
commonName = optional
"""


def certificate_kinds() -> Iterator[Manifest]:
    """Yield the definitions of Certificate and Issuer, without the labels that Helm would fill in."""
    for kind in ("certificates", "issuers"):
        for definition in crds(sources.cert_manager_crds(), f"cert-manager.io_{kind}.yaml"):
            yield {**definition, "metadata": {"name": definition["metadata"]["name"]}}


@dataclass
class FakeIssuer:
    """Issues the Certificates of a cluster. `lifetime` is that of a pair in seconds; it is renewed after half of it."""

    cluster: Cluster
    folder: Path
    lifetime: float = 86400.0
    issued: dict[str, list[float]] = field(default_factory=dict)
    _due: dict[str, float] = field(default_factory=dict)
    _stop: threading.Event = field(default_factory=threading.Event)
    #: Held while what is due is issued: the time of a pair that is being issued must not be written over.
    _issuing: threading.Lock = field(default_factory=threading.Lock)

    def renew(self, name: str | None = None, *, lifetime: float | None = None) -> None:
        """Issue a Certificate anew, or all pairs, from then on with another lifetime."""
        with self._issuing:
            self.lifetime = lifetime or self.lifetime
            pairs = [each for each, due in self._due.items() if due != float("inf")]
            for each in [name] if name else pairs:
                self._due[each] = 0.0

    def run(self) -> None:
        """Issue what is due until it is stopped."""
        while not self._stop.wait(_PULSE):
            # A server that begins to serve the kinds, or ends.
            with contextlib.suppress(ApiError), self._issuing:
                self._issue_due()

    def stop(self) -> None:
        """End `run`."""
        self._stop.set()

    def _issue_due(self) -> None:
        found = self.cluster.api.list(CERTIFICATE)
        # One request for all of them: this is repeated every second for as long as the cluster runs.
        stored = {
            (namespace, each["metadata"]["name"])
            for namespace in {each["metadata"]["namespace"] for each in found}
            for each in self.cluster.api.list(SECRET, namespace)
        }
        for certificate in sorted(found, key=lambda each: not each["spec"].get("isCA")):
            metadata, spec = certificate["metadata"], certificate["spec"]
            name, is_stored = metadata["name"], (metadata["namespace"], spec["secretName"]) in stored
            if is_stored and name not in self._due and spec.get("isCA"):
                self._due[name] = float("inf")
            if not is_stored or self._due.get(name, 0.0) <= time.monotonic():
                self._issue(certificate)
            if not certificate.get("status", {}).get("conditions"):
                self._say_ready(certificate)

    def _secret(self, certificate: Manifest, name: str) -> Manifest | None:
        return self.cluster.api.get(SECRET, name, certificate["metadata"]["namespace"])

    def _issue(self, certificate: Manifest) -> None:
        spec, metadata = certificate["spec"], certificate["metadata"]
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        if spec.get("isCA"):
            self._sign_itself(spec)
        elif not self._sign_by_authority(certificate):
            return
        files = ("tls.crt", "tls.key", "ca.crt")
        body = {
            "apiVersion": SECRET.api_version,
            "kind": SECRET.kind,
            "type": "kubernetes.io/tls",
            "metadata": {
                "name": spec["secretName"],
                "namespace": metadata["namespace"],
                "labels": spec.get("secretTemplate", {}).get("labels", {}),
            },
            "data": {file: base64.b64encode((self.folder / file).read_bytes()).decode() for file in files},
        }
        self.cluster.api.apply(body)
        now = time.monotonic()
        self._due[metadata["name"]] = float("inf") if spec.get("isCA") else now + self.lifetime / 2
        self.issued.setdefault(metadata["name"], []).append(now)

    def _sign_itself(self, spec: Mapping[str, Any]) -> None:
        uses = ("-addext", "keyUsage=critical,keyCertSign")
        name = ("-subj", f"/CN={spec['commonName']}", "-days", "3650")
        self._openssl("req", "-x509", *_NEW_KEY, *uses, *name, "-keyout", "tls.key", "-out", "tls.crt")
        shutil.copy(self.folder / "tls.crt", self.folder / "ca.crt")

    def _sign_by_authority(self, certificate: Manifest) -> bool:
        """Sign a pair with the CA of its Issuer; return whether the CA exists."""
        spec, metadata = certificate["spec"], certificate["metadata"]
        issuer = self.cluster.api.get(ISSUER, spec["issuerRef"]["name"], metadata["namespace"])
        authority = issuer and self._secret(certificate, issuer["spec"]["ca"]["secretName"])
        if not authority:
            return False
        for file, key in (("ca.crt", "tls.crt"), ("ca.key", "tls.key")):
            (self.folder / file).write_bytes(base64.b64decode(authority["data"][key]))
        uses = ",".join(filter(None, (_USAGES[each] for each in spec["usages"])))
        names = ",".join(f"DNS:{name}" for name in spec["dnsNames"])
        extensions = (f"subjectAltName={names}", f"extendedKeyUsage={uses}", "basicConstraints=CA:FALSE")
        (self.folder / "extensions").write_text("\n".join((*extensions, "keyUsage=digitalSignature")))
        (self.folder / "signing").write_text(_SIGNING)
        (self.folder / "index").touch()
        self._openssl("req", *_NEW_KEY, "-subj", f"/CN={spec['dnsNames'][0]}", "-keyout", "tls.key", "-out", "csr")
        times = ("-startdate", _moment(-60), "-enddate", _moment(self.lifetime))
        signer = ("-config", "signing", "-cert", "ca.crt", "-keyfile", "ca.key", "-extfile", "extensions")
        self._openssl("ca", "-batch", "-notext", *signer, *times, "-in", "csr", "-out", "tls.crt")
        return True

    def _say_ready(self, certificate: Manifest) -> None:
        metadata = certificate["metadata"]
        ready = {
            "type": "Ready",
            "status": "True",
            "reason": "Ready",
            "message": "Certificate is up to date and has not expired",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
            "observedGeneration": metadata["generation"],
        }
        if self._secret(certificate, certificate["spec"]["secretName"]):
            status = {"status": {"conditions": [ready]}}
            self.cluster.api.patch(CERTIFICATE, metadata["name"], status, metadata["namespace"], "status")

    def _openssl(self, *arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=self.folder, check=True, capture_output=True)


def _moment(seconds: float) -> str:
    """Return a time so many seconds from now, as openssl takes it."""
    return time.strftime("%Y%m%d%H%M%SZ", time.gmtime(time.time() + seconds))


@contextmanager
def fake_issuer(cluster: Cluster) -> Iterator[FakeIssuer]:
    """Install cert-manager's kinds on a cluster, and issue what its Certificates ask for."""
    establish(cluster, certificate_kinds())
    issuer = FakeIssuer(cluster, cluster.run.folder / f"{cluster.name}-issuer")
    thread = threading.Thread(target=issuer.run, name="issuer", daemon=True)
    thread.start()
    try:
        yield issuer
    finally:
        issuer.stop()
        thread.join()

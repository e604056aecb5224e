"""The certificates and keys of one run: a CA, a server and a client pair, a key for service account tokens."""

import base64
import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path

_CURVE = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-x509", "-days", "2")
_NAMES = "subjectAltName=DNS:localhost,IP:127.0.0.1"


@dataclass(frozen=True, slots=True)
class Certificates:
    """The files of a folder: `ca.crt`, `server/` and `client/` (tls.crt, tls.key, ca.crt each) and `tokens.key`."""

    folder: Path

    @property
    def authority(self) -> Path:
        """Return the CA's certificate."""
        return self.folder / "ca.crt"

    @property
    def server(self) -> Path:
        """Return the folder of the pair for servers on localhost and 127.0.0.1."""
        return self.folder / "server"

    @property
    def client(self) -> Path:
        """Return the folder of the pair for clients."""
        return self.folder / "client"

    @property
    def token_key(self) -> Path:
        """Return the key that signs service account tokens."""
        return self.folder / "tokens.key"

    @property
    def bundle(self) -> str:
        """Return the CA's certificate as manifests contain it: base64 of the PEM."""
        return base64.b64encode(self.authority.read_bytes()).decode()

    def trust(self) -> ssl.SSLContext:
        """Return a TLS context that trusts only this CA."""
        return ssl.create_default_context(cafile=str(self.authority))


def make_certificates(folder: Path) -> Certificates:
    """Create all of them in an empty folder, with the openssl command."""
    folder.mkdir(parents=True)
    _openssl(folder, "req", *_CURVE, "-subj", "/CN=modelplane-e2e", "-keyout", "ca.key", "-out", "ca.crt")
    for name, usage in (("server", "serverAuth"), ("client", "clientAuth")):
        pair = folder / name
        pair.mkdir()
        use = ("-addext", _NAMES, "-addext", f"extendedKeyUsage={usage}", "-addext", "basicConstraints=CA:FALSE")
        files = ("-keyout", f"{name}/tls.key", "-out", f"{name}/tls.crt")
        _openssl(folder, "req", *_CURVE, "-CA", "ca.crt", "-CAkey", "ca.key", *use, "-subj", f"/CN={name}", *files)
        (pair / "ca.crt").write_bytes((folder / "ca.crt").read_bytes())
    _openssl(folder, "genrsa", "-traditional", "-out", "tokens.key", "2048")
    return Certificates(folder)


def _openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

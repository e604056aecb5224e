"""An OCI registry of charts and packages on loopback, over TLS: what a client that pulls one asks for, and no more."""

import hashlib
import json
import ssl
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Final

import yaml

from modelplane_dev.plane.certificates import Certificates

_CONFIG: Final = "application/vnd.cncf.helm.config.v1+json"
_CONTENT: Final = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
_MANIFEST: Final = "application/vnd.oci.image.manifest.v1+json"
#: Those of what `crossplane xpkg build` packs: a Docker image.
_IMAGE: Final = "application/vnd.docker.distribution.manifest.v2+json"
_IMAGE_CONFIG: Final = "application/vnd.docker.container.image.v1+json"
_IMAGE_LAYER: Final = "application/vnd.docker.image.rootfs.diff.tar.gzip"
_HOLDS: Final = "io.crossplane.xpkg"
#: By path: media type and content.
Content = dict[str, tuple[str, bytes]]


def _described(media_type: str, content: bytes) -> dict[str, Any]:
    return {"mediaType": media_type, "digest": digest(content), "size": len(content)}


def digest(content: bytes) -> str:
    """Return the digest of a blob."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def contents(archives: Iterable[Path], prefix: str) -> Content:
    """Return what a registry has of packaged charts, whose repositories are below `prefix`."""
    found: Content = {"/v2/": ("application/json", b"{}")}
    for archive in archives:
        layer = archive.read_bytes()
        with tarfile.open(archive) as packed:
            member = next(
                each for each in packed.getmembers() if each.name.count("/") == 1 and "Chart.yaml" in each.name
            )
            chart = yaml.safe_load(packed.extractfile(member) or b"")
        config = json.dumps(chart, default=str).encode()
        described = {"config": _described(_CONFIG, config), "layers": [_described(_CONTENT, layer)]}
        manifest = json.dumps({"schemaVersion": 2, "mediaType": _MANIFEST, **described}).encode()
        repository = f"/v2/{prefix}/{chart['name']}"
        for blob, media_type in ((config, _CONFIG), (layer, _CONTENT)):
            found[f"{repository}/blobs/{digest(blob)}"] = (media_type, blob)
        for name in (str(chart["version"]), digest(manifest)):
            found[f"{repository}/manifests/{name}"] = (_MANIFEST, manifest)
    return found


def _annotated(layer: bytes, labels: Mapping[str, str]) -> dict[str, Any]:
    """Return a layer as `crossplane xpkg push` describes it: with what the image's labels say that it holds."""
    described = _described(_IMAGE_LAYER, layer)
    kind = labels.get(f"{_HOLDS}:{described['digest']}")
    return described | ({"annotations": {_HOLDS: kind}} if kind else {})


def packages(files: Mapping[tuple[str, str], Path]) -> Content:
    """Return what a registry has of Crossplane's packages, which are given by repository and tag."""
    found: Content = {"/v2/": ("application/json", b"{}")}
    for (repository, tag), file in files.items():
        root = f"/v2/{repository}"
        with tarfile.open(file) as packed:

            def read(name: str, archive: tarfile.TarFile = packed) -> bytes:
                content = archive.extractfile(name)
                return content.read() if content else b""

            (image,) = json.loads(read("manifest.json"))
            config, layers = read(image["Config"]), [read(each) for each in image["Layers"]]
        blobs = [(config, _IMAGE_CONFIG), *((layer, _IMAGE_LAYER) for layer in layers)]
        found |= {f"{root}/blobs/{digest(blob)}": (media_type, blob) for blob, media_type in blobs}
        labels = json.loads(config)["config"].get("Labels") or {}
        described = {
            "config": _described(_IMAGE_CONFIG, config),
            "layers": [_annotated(each, labels) for each in layers],
        }
        manifest = {"schemaVersion": 2, "mediaType": _IMAGE, **described}
        content = json.dumps(manifest).encode()
        found |= {f"{root}/manifests/{name}": (_IMAGE, content) for name in (tag, digest(content))}
        tags = [each for where, each in files if where == repository]
        listed = json.dumps({"name": repository, "tags": tags}).encode()
        found[f"{root}/tags/list"] = ("application/json", listed)
    return found


@contextmanager
def serve(certificates: Certificates, archives: Iterable[Path], prefix: str = "charts") -> Iterator[str]:
    """Serve charts; yield the repository that they are in, as a Release names it."""
    with serve_contents(certificates, contents(archives, prefix)) as host:
        yield f"oci://{host}/{prefix}"


@contextmanager
def serve_contents(certificates: Certificates, served: Content) -> Iterator[str]:
    """Serve what a registry has; yield its host and port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            media_type, content = served.get(path, ("application/json", b'{"errors":[]}'))
            self.send_response(200 if path in served else 404)
            self.send_header("Content-Type", media_type)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Docker-Content-Digest", digest(content))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content)

        do_HEAD = do_GET  # noqa: N815 - as http.server calls it

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates.server / "tls.crt", certificates.server / "tls.key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"localhost:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

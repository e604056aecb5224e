"""Builds the one image that all functions run in, as a tarball, without Docker: pinned Debian packages and wheels.

The content is pinned by hashes in package/image. Debian's packages are fetched once, by apt-get, into a cache. The
image contains nothing of the machine that builds it and no timestamps: the same content gives the same bytes.
"""

import hashlib
import io
import json
import lzma
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from modelplane_dev.folders import ROOT, cache_folder

PINS = ROOT / "package" / "image"
#: Where Debian's Python looks for what Debian did not package.
SITE = "usr/local/lib/python3.11/dist-packages"
#: The wheels of these platforms run on the C library of the image.
_PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")
#: Files of Debian packages that no program needs at run time; licences stay.
_LEFT_OUT = ("usr/share/man/", "usr/share/locale/", "usr/share/lintian/", "usr/share/doc-base/")
#: Files in which pip records how and where it ran.
_RECORDS = frozenset({"RECORD", "INSTALLER", "REQUESTED", "direct_url.json"})
_LAUNCHER = """#!/usr/bin/python3.11 -I
import sys
from modelplane.cli import main
sys.exit(main())
"""
#: How often what is fetched is asked for again: registries refuse, and connections break.
_TRIES = 10
#: Number of the user modelplane and of its group.
_USER = 65532
_BUNDLE = "etc/ssl/certs/ca-certificates.crt"

#: A file of a layer: its bytes, or where a link leads; and its mode.
Content = tuple[bytes | str, int]


class ImageError(Exception):
    """The image could not be built; the text says why."""


@dataclass(frozen=True, slots=True)
class Image:
    """The layers of an image as tarballs, the lowest first.

    `compressed` holds those that have been compressed already, by the digests of the uncompressed ones.
    """

    layers: tuple[bytes, ...]
    compressed: Mapping[str, bytes] = field(default_factory=dict)

    def compressed_as_in(self, package: Path) -> "Image":
        """Return the image with the compressed layers of a package that contains it: each is compressed only once."""
        with tarfile.open(package) as tar:

            def read(name: str) -> bytes:
                found = tar.extractfile(name)
                return found.read() if found else b""

            (manifest,) = json.loads(read("manifest.json"))
            digests = json.loads(read(manifest["Config"]))["rootfs"]["diff_ids"]
            files = dict(zip(digests, manifest["Layers"], strict=True))
            return replace(self, compressed={each: read(files[f"sha256:{each}"]) for each in self._by_digest()})

    def _by_digest(self) -> dict[str, bytes]:
        return {_digest(layer): layer for layer in self.layers}

    def write(self, file: Path, entrypoint: Iterable[str], environment: Mapping[str, str]) -> None:
        """Write the image with an entrypoint and variables of its own into a file, as `docker save` does.

        It runs as an unprivileged user unless a pod says otherwise, as Jobs that download onto volumes of root do. The
        user is given by its number: Kubernetes cannot tell whether a user that is given by name is root.
        """
        variables = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "SSL_CERT_FILE": f"/{_BUNDLE}",
            "PYTHONDONTWRITEBYTECODE": "1",
            **environment,
        }
        config = {
            "architecture": "amd64",
            "os": "linux",
            "config": {
                "User": f"{_USER}:{_USER}",
                "Entrypoint": list(entrypoint),
                "Env": [f"{name}={value}" for name, value in variables.items()],
                "ExposedPorts": {"9443/tcp": {}},
            },
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}" for digest in self._by_digest()]},
        }
        named = {f"{digest}.tar": self.compressed.get(digest, layer) for digest, layer in self._by_digest().items()}
        described = json.dumps(config, sort_keys=True).encode()
        name = f"{_digest(described)}.json"
        manifest = [{"Config": name, "RepoTags": None, "Layers": list(named)}]
        files = {**named, name: described, "manifest.json": json.dumps(manifest).encode()}
        file.write_bytes(_tarball({path: (content, 0o644) for path, content in files.items()}))


def build_image() -> Image:
    """Build the image from the tree. Raises ImageError."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        wheels = _install_wheels(folder / "wheels", ["--require-hashes", "--requirement", PINS / "requirements.lock"])
        ours = _install_wheels(folder / "ours", ["--no-index", _own_wheel(folder)])
        launcher: dict[str, Content] = {"usr/local/bin/modelplane": (_LAUNCHER.encode(), 0o755)}
        return Image((_tarball(_system()), _tarball(wheels), _tarball(ours | launcher)))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _tarball(files: Mapping[str, Content]) -> bytes:
    """Return a tarball of files by path, with their parent folders, all owned by root and without timestamps."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.PAX_FORMAT) as tar:
        folders = {str(parent) for path in files for parent in Path(path).parents} - {"."}
        for path in sorted({*files, *folders}):
            entry = tarfile.TarInfo(path)
            content, entry.mode = files.get(path, (b"", 0o755))
            if path not in files:
                entry.type = tarfile.DIRTYPE
            elif isinstance(content, str):
                entry.type, entry.linkname, content = tarfile.SYMTYPE, content, b""
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content if isinstance(content, bytes) else b""))
    return made.getvalue()


def _system() -> dict[str, Content]:
    """Return the files of the Debian packages, the users, and the certificate authorities in one file."""
    files: dict[str, Content] = {
        # Debian has merged /bin and /lib into /usr; the packages of this release still use both paths.
        **{name: (f"usr/{name}", 0o777) for name in ("bin", "lib", "lib64")},
        "etc/passwd": (f"root:x:0:0:root:/:/bin/false\nmodelplane:x:{_USER}:{_USER}::/:/bin/false\n".encode(), 0o644),
        "etc/group": (f"root:x:0:\nmodelplane:x:{_USER}:\n".encode(), 0o644),
    }
    for package in _debian_packages():
        files.update(_unpacked(package))
    authorities = sorted(path for path in files if path.startswith("usr/share/ca-certificates/"))
    files[_BUNDLE] = (b"".join(found for path in authorities if isinstance(found := files[path][0], bytes)), 0o644)
    return files


def _unpacked(package: Path) -> Iterator[tuple[str, Content]]:
    """Yield the files of a Debian package: an `ar` archive with a tarball of them in it."""
    with tarfile.open(fileobj=io.BytesIO(_data(package.read_bytes()))) as tar:
        for entry in tar:
            path = entry.name.removeprefix("./")
            for name in ("bin", "lib", "lib64"):
                if path.startswith(f"{name}/"):
                    path = f"usr/{path}"
            if path.startswith(_LEFT_OUT) or entry.isdir():
                continue
            if entry.issym():
                yield path, (entry.linkname, 0o777)
            elif content := tar.extractfile(entry):
                yield path, (content.read(), entry.mode)


def _data(archive: bytes) -> bytes:
    """Return the tarball with the files of a Debian package."""
    position = len(b"!<arch>\n")
    while position < len(archive):
        header = archive[position : position + 60]
        name, size = header[:16].decode().strip().rstrip("/"), int(header[48:58])
        position += 60
        if name == "data.tar.xz":
            return lzma.decompress(archive[position : position + size])
        position += size + size % 2
    raise ImageError("a Debian package without data.tar.xz")


def _debian_packages() -> Iterator[Path]:
    """Yield the file of each pinned Debian package, fetched when the cache does not have it."""
    pins = [line.split() for line in (PINS / "debian.lock").read_text().splitlines() if not line.startswith("#")]
    folder = cache_folder("debian")
    missing = [f"{name}={version}" for name, version, digest in pins if not (folder / digest).exists()]
    if missing:
        _fetch(missing, folder)
    for name, version, digest in pins:
        if not (folder / digest).exists():
            raise ImageError(f"{name} {version} has other content than package/image/debian.lock says")
        yield folder / digest


def _fetch(packages: list[str], folder: Path) -> None:
    """Fetch Debian packages, as `name=version`, into a folder, each under the digest of its content."""
    if not shutil.which("apt-get"):
        raise ImageError("apt-get is needed to fetch the Debian packages of the image: build on Debian 12")
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        (Path(scratch) / "lists" / "partial").mkdir(parents=True)
        # Its own package lists: those of the machine may be old or missing, and only root may update them.
        options = [f"-o=Dir::State::Lists={scratch}/lists", f"-o=Dir::Cache={scratch}", "-o=APT::Sandbox::User="]
        options.append(f"-o=Acquire::Retries={_TRIES}")
        for arguments in (["update"], ["download", *packages]):
            _run(["apt-get", "--quiet", *options, *arguments], Path(scratch))
        for file in Path(scratch).glob("*.deb"):
            file.rename(folder / _digest(file.read_bytes()))


def _own_wheel(folder: Path) -> Path:
    """Return the wheel of this tree, built into a folder."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    _run(command)
    (wheel,) = folder.glob("*.whl")
    return wheel


def _install_wheels(target: Path, what: Iterable[str | Path]) -> dict[str, Content]:
    """Return the files of wheels as they are installed in the image."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    command.append(f"--retries={_TRIES}")
    command += [
        "--no-deps",
        "--only-binary=:all:",
        "--python-version=3.11",
        "--implementation=cp",
        f"--target={target}",
    ]
    _run([*command, *(f"--platform={name}" for name in _PLATFORMS), "--root-user-action=ignore", *map(str, what)])
    shutil.rmtree(target / "bin", ignore_errors=True)
    kept = (path for path in target.rglob("*") if path.is_file() and path.name not in _RECORDS)
    return {f"{SITE}/{path.relative_to(target)}": (path.read_bytes(), _mode(path)) for path in kept}


def _mode(path: Path) -> int:
    return 0o755 if os.access(path, os.X_OK) else 0o644


def _run(command: list[str], directory: Path = ROOT) -> None:
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ImageError(f"{' '.join(command[:4])} failed: {done.stderr.strip()}")

"""The plan of a run: the files of one commit, with their sizes and checksums."""

import hashlib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, BinaryIO

#: Modelplane's own folder at the root of the volume.
OURS = ".modelplane"
#: The most files of a snapshot, as many as the hub recommends for a repository, and the most parts of a path.
MOST_FILES, MOST_PARTS = 100_000, 64
_CHUNK = 8 * 1024 * 1024
#: Characters of a path in a message.
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class File:
    """A file of the snapshot: its path, its size in bytes, and its checksum, of `kind` sha256 or git (its SHA-1)."""

    path: str
    size: int
    kind: str
    checksum: str


@dataclass(frozen=True, slots=True)
class Plan:
    """The files of one commit of a repository. `revision` is the requested one, "" for the default branch."""

    repo: str
    revision: str
    commit: str
    files: tuple[File, ...]

    def is_of(self, repo: str, revision: str, commit: str) -> bool:
        """Tell whether this plan is of a source, and of a commit unless `commit` is ""."""
        return (self.repo, self.revision) == (repo, revision) and commit in ("", self.commit)

    @property
    def size(self) -> int:
        """Return the bytes of all files."""
        return sum(file.size for file in self.files)

    def as_json(self) -> dict[str, Any]:
        """Return the plan as JSON."""
        rows = [[file.path, file.size, file.kind, file.checksum] for file in self.files]
        return {
            "source": "HuggingFace",
            "repo": self.repo,
            "revision": self.revision,
            "commit": self.commit,
            "files": rows,
        }


def read_plan(found: Mapping[str, Any]) -> Plan:
    """Return the plan of a JSON object; raises KeyError, TypeError or ValueError for an invalid one.

    Anybody with access to the volume may have written it: a plan with a path outside of the snapshot is invalid.
    """
    files = tuple(File(str(path), int(size), str(kind), str(checksum)) for path, size, kind, checksum in found["files"])
    if wrong := find_refused([file.path for file in files]):
        raise ValueError(wrong)
    # A negative size would reduce the total that is checked against the limit.
    if any(file.size < 0 for file in files):
        raise ValueError("a negative size")
    return Plan(str(found["repo"]), str(found["revision"]), str(found["commit"]), files)


def stays_inside(path: str) -> bool:
    """Tell whether a path of a repository names a file inside the snapshot."""
    parts = PurePosixPath(path).parts
    # Control characters could forge a line of the log, and a lone UTF-16 surrogate is not valid in a file name.
    legal = not any(unicodedata.category(each) in ("Cc", "Cs") for each in path)
    legal = legal and not path.startswith("/") and "\\" not in path
    return legal and bool(parts) and _folded(parts[0]) != OURS and ".." not in parts


def _folded(name: str) -> str:
    """Return a name in the form that a volume without distinction of case or Unicode form compares, such as SMB."""
    return unicodedata.normalize("NFC", name).casefold()


def find_same(paths: Iterable[str]) -> str:
    """Return which two paths are the same file on a volume without distinction of case or Unicode form, "" for none."""
    seen: dict[str, str] = {}
    for path in paths:
        if (other := seen.setdefault(_folded(path), path)) != path:
            return f"{other!r} and {path!r} are one file there"
    return ""


def find_refused(paths: Sequence[str]) -> str:
    """Return why no snapshot can have these paths, "" if one can."""
    if len(paths) > MOST_FILES:
        return f"{len(paths)} files, and a snapshot has at most {MOST_FILES}"
    for path in paths:
        if not stays_inside(path):
            return f"{_shorten(path)} is not the name of a file inside the snapshot"
        if (parts := len(PurePosixPath(path).parts)) > MOST_PARTS:
            return f"the path {_shorten(path)} has {parts} parts, and may have at most {MOST_PARTS}"
    return ""


def _shorten(path: str) -> str:
    """Return a path in quotes, without its middle if it is long: a pod's status keeps 4 KiB of a message."""
    return repr(path if len(path) <= _SHOWN else f"{path[: _SHOWN // 2]}...{path[-_SHOWN // 2 :]}")


def verify(file: File, opened: BinaryIO) -> bool:
    """Tell whether an opened file has the checksum of `file`."""
    if file.kind == "sha256":
        digest = hashlib.sha256()
    else:
        # Git names a blob by its SHA-1 over a header and the content; here it is only an integrity check.
        digest = hashlib.sha1(f"blob {file.size}\0".encode(), usedforsecurity=False)
    while chunk := opened.read(_CHUNK):
        digest.update(chunk)
    return digest.hexdigest() == file.checksum

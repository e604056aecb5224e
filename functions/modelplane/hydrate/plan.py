"""The plan of a run: the files of one commit, with their sizes and checksums."""

import hashlib
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

#: Modelplane's own folder at the root of the volume.
OURS = ".modelplane"
_CHUNK = 8 * 1024 * 1024


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
    if wrong := find_misplaced(file.path for file in files):
        raise ValueError(wrong)
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


def find_misplaced(paths: Iterable[str]) -> str:
    """Return which of the paths is outside of the snapshot, "" if none is."""
    wrong = next((path for path in paths if not stays_inside(path)), None)
    return "" if wrong is None else f"{wrong!r} is not the name of a file inside the snapshot"


def verify(file: File, path: Path) -> bool:
    """Tell whether `path` has the file's size and checksum."""
    if not path.is_file() or path.stat().st_size != file.size:
        return False
    if file.kind == "sha256":
        digest = hashlib.sha256()
    else:
        # Git names a blob by its SHA-1 over a header and the content; here it is only an integrity check.
        digest = hashlib.sha1(f"blob {file.size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as opened:
        while chunk := opened.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest() == file.checksum

"""What a run brings onto the volume: the files of one commit, with their sizes and checksums."""

import hashlib
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

#: Folder of ours at the root of the volume.
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
    """The files of one commit of a repository. `revision` is what was asked for, "" for the default branch."""

    repo: str
    revision: str
    commit: str
    files: tuple[File, ...]

    def is_of(self, repo: str, revision: str, commit: str) -> bool:
        """Tell whether this is a plan of a source; of any of its commits where `commit` is ""."""
        return (self.repo, self.revision) == (repo, revision) and commit in ("", self.commit)

    @property
    def size(self) -> int:
        """Return the bytes of all files."""
        return sum(file.size for file in self.files)

    def as_json(self) -> dict[str, Any]:
        """Return the plan as JSON holds it."""
        rows = [[file.path, file.size, file.kind, file.checksum] for file in self.files]
        return {
            "source": "HuggingFace",
            "repo": self.repo,
            "revision": self.revision,
            "commit": self.commit,
            "files": rows,
        }


def read_plan(found: Mapping[str, Any]) -> Plan:
    """Return the plan of a JSON object; raises KeyError, TypeError or ValueError for one that holds none.

    Whoever may write to the volume may have written it: a plan with a path that leads out of the snapshot is none.
    """
    files = tuple(File(str(path), int(size), str(kind), str(checksum)) for path, size, kind, checksum in found["files"])
    if wrong := find_misplaced(file.path for file in files):
        raise ValueError(wrong)
    return Plan(str(found["repo"]), str(found["revision"]), str(found["commit"]), files)


def stays_inside(path: str) -> bool:
    """Tell whether a path of a repository names a file inside the snapshot."""
    parts = PurePosixPath(path).parts
    # Control characters would forge a line of the log, and half a pair of UTF-16 is no name of a file.
    legal = not any(unicodedata.category(each) in ("Cc", "Cs") for each in path)
    legal = legal and not path.startswith("/") and "\\" not in path
    return legal and bool(parts) and _folded(parts[0]) != OURS and ".." not in parts


def _folded(name: str) -> str:
    """Return a name as a volume sees it that tells neither case nor ways to write a letter apart, such as SMB's."""
    return unicodedata.normalize("NFC", name).casefold()


def find_same(paths: Iterable[str]) -> str:
    """Return in words which two paths are one where case and ways to write a letter are not told apart, "" for none."""
    seen: dict[str, str] = {}
    for path in paths:
        if (other := seen.setdefault(_folded(path), path)) != path:
            return f"{other!r} and {path!r} are one file there"
    return ""


def find_misplaced(paths: Iterable[str]) -> str:
    """Return in words which of the paths leads out of the snapshot, "" where none does."""
    wrong = next((path for path in paths if not stays_inside(path)), None)
    return "" if wrong is None else f"{wrong!r} is not the name of a file inside the snapshot"


def verify(file: File, path: Path) -> bool:
    """Tell whether `path` holds the file, by its size and every byte."""
    if not path.is_file() or path.stat().st_size != file.size:
        return False
    if file.kind == "sha256":
        digest = hashlib.sha256()
    else:
        # Git names a blob by its SHA-1 over a header and the content: an integrity check here, no signature.
        digest = hashlib.sha1(f"blob {file.size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as opened:
        while chunk := opened.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest() == file.checksum

"""A run's own files on the volume besides the snapshot: its plan, unfinished files, and finally the marker."""

import errno
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from modelplane.hydrate.failure import BrokenError, LastingError
from modelplane.hydrate.plan import OURS, File, Plan, find_same, read_plan
from modelplane.model.staging import HydrateExit

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
#: Errors that persist until the volume or its content is changed.
_CLOSED = frozenset({
    errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENAMETOOLONG
})  # fmt: skip


@contextmanager
def writing() -> Iterator[None]:
    """Turn errors of a volume into HydrateErrors; a file server that does not answer is a temporary failure."""
    try:
        yield
    except OSError as error:
        message = f"{error.strerror or error}: {error.filename or 'the volume'}"
        if error.errno in _FULL:
            raise LastingError(HydrateExit.DISK_FULL, message) from error
        if error.errno in _CLOSED:
            raise LastingError(HydrateExit.UNWRITABLE, message) from error
        raise BrokenError(message) from error


def _sync(folder: Path) -> None:
    """Flush a folder's entries to disk."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


@dataclass(frozen=True, slots=True)
class Volume:
    """A volume mounted at `root`; the snapshot is at its root."""

    root: Path

    @property
    def size(self) -> int:
        """Return the size of the volume in bytes; 0 if its file system does not report it."""
        return shutil.disk_usage(self.root).total

    @property
    def _marker(self) -> Path:
        return self.root / OURS / "staged.json"

    @property
    def _pinned(self) -> Path:
        return self.root / OURS / "plan.json"

    @property
    def _folds(self) -> bool:
        """Tell whether the volume treats names that differ in case as the same, such as SMB."""
        (self.root / OURS).mkdir(parents=True, exist_ok=True)
        return (self.root / OURS.upper()).exists()

    def _read(self, path: Path) -> Plan | None:
        """Return a written plan, None if there is no readable one."""
        try:
            return read_plan(json.loads(path.read_bytes()))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _write(self, path: Path, plan: Plan) -> None:
        """Write a plan atomically."""
        path.parent.mkdir(parents=True, exist_ok=True)
        made = path.with_suffix(".new")
        with made.open("wb") as opened:
            opened.write(json.dumps(plan.as_json()).encode())
            opened.flush()
            os.fsync(opened.fileno())
        made.replace(path)
        _sync(path.parent)

    def staged(self, repo: str, revision: str, commit: str = "") -> Plan | None:
        """Return the staged plan, None unless the marker of this source and every file with its size exist.

        `commit` is the required commit, "" for any.
        """
        plan = self._read(self._marker)
        if plan is None or not plan.is_of(repo, revision, commit):
            return None
        return plan if all(self._size(self.place(file)) == file.size for file in plan.files) else None

    def pinned(self, repo: str, revision: str, commit: str = "") -> Plan | None:
        """Return the plan of an earlier run for this source, even one whose marker is no longer valid."""
        plans = filter(None, (self._read(self._pinned), self._read(self._marker)))
        return next((plan for plan in plans if plan.is_of(repo, revision, commit)), None)

    def begin(self, plan: Plan) -> None:
        """Start a plan: from now on the volume has an unfinished copy of it, and nothing of other plans.

        Raises LastingError if two of its files would be one file on this volume.
        """
        if self._folds and (same := find_same(file.path for file in plan.files)):
            raise LastingError(HydrateExit.UNWRITABLE, f"the volume does not tell upper from lower case: {same}")
        if self._marker.exists():
            # The staged plan counts as unfinished from now on, and is known until its files are removed.
            self._marker.replace(self._pinned)
            _sync(self._marker.parent)
        if earlier := self._read(self._pinned):
            self._remove(earlier, keep=plan)
        self._write(self._pinned, plan)

    def finish(self, plan: Plan) -> None:
        """Write the marker after everything else has been flushed, and remove the run's own files."""
        self._write(self._marker, plan)
        self._pinned.unlink(missing_ok=True)
        shutil.rmtree(self.root / OURS / "parts", ignore_errors=True)

    def place(self, file: File) -> Path:
        """Return the path of a file of the snapshot."""
        return self.root / file.path

    def part(self, file: File) -> Path:
        """Return the path of the unfinished file, which depends on its content."""
        name = sha256(f"{file.checksum} {file.path}".encode()).hexdigest()
        return self.root / OURS / "parts" / name

    def write(self, file: File, start: int, chunks: Iterable[bytes]) -> Iterator[int]:
        """Write chunks to an unfinished file from `start` on, at most up to its size, and yield the length of each.

        Chunks are written at their offsets, never appended: a run on a lost node may still write, and would otherwise
        add to what another run has verified.
        """
        part = self.part(file)
        part.parent.mkdir(parents=True, exist_ok=True)
        part.touch()
        with writing(), part.open("r+b", buffering=0) as opened:
            opened.seek(start)
            try:
                for chunk in chunks:
                    view = memoryview(chunk)[: file.size - opened.tell()]
                    length = len(view)
                    while view:
                        view = view[opened.write(view) :]
                    yield length
            finally:
                os.fsync(opened.fileno())

    def accept(self, file: File) -> None:
        """Move a verified file to its place."""
        place = self.place(file)
        place.parent.mkdir(parents=True, exist_ok=True)
        self.part(file).replace(place)
        _sync(place.parent)

    def _size(self, path: Path) -> int:
        return path.stat().st_size if path.is_file() else -1

    def begun(self, file: File) -> int:
        """Return the present size of an unfinished file in bytes."""
        return max(0, self._size(self.part(file)))

    def _remove(self, earlier: Plan, *, keep: Plan) -> None:
        """Remove the files of an earlier plan that are not in this one, and no other files."""
        wanted = {file.path for file in keep.files}
        unfinished = {self.part(file) for file in keep.files}
        for file in earlier.files:
            if self.part(file) not in unfinished:
                self.part(file).unlink(missing_ok=True)
            if file.path in wanted:
                continue
            self.place(file).unlink(missing_ok=True)
            for folder in self.place(file).relative_to(self.root).parents:
                if folder != Path() and (self.root / folder).is_dir() and not any((self.root / folder).iterdir()):
                    (self.root / folder).rmdir()

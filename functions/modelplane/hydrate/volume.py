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
from typing import BinaryIO

from modelplane.hydrate.failure import BrokenError, LastingError
from modelplane.hydrate.plan import OURS, File, Plan, find_same, read_plan, verify
from modelplane.hydrate.tree import Tree
from modelplane.model.staging import HydrateExit

_MARKER, _PINNED, _PARTS = f"{OURS}/staged.json", f"{OURS}/plan.json", f"{OURS}/parts"
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
#: Errors that persist until the volume or its content is changed.
_CLOSED = frozenset({
    errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.ELOOP
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


def _write_all(opened: BinaryIO, view: memoryview) -> None:
    """Write all bytes to a file without a buffer."""
    while view:
        view = view[opened.write(view) :]


@dataclass(frozen=True, slots=True)
class Volume:
    """A volume mounted at `root`; the snapshot is at its root."""

    root: Path

    @property
    def size(self) -> int:
        """Return the size of the volume in bytes; 0 if its file system does not report it."""
        return shutil.disk_usage(self.root).total

    @property
    def _tree(self) -> Tree:
        return Tree(self.root)

    def _folds(self) -> bool:
        """Tell whether the volume treats names that differ in case as the same, such as SMB."""
        with self._tree.folder(_MARKER, make=True):
            return self._tree.exists(OURS.upper())

    def _read(self, path: str) -> Plan | None:
        """Return a written plan, None if there is no readable one."""
        try:
            with self._tree.open(path) as opened:
                return read_plan(json.loads(opened.read()))
        except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
            return None

    def _write(self, path: str, plan: Plan) -> None:
        """Write a plan atomically."""
        made = f"{path.removesuffix('.json')}.new"
        with self._tree.open(made, os.O_RDWR | os.O_CREAT | os.O_TRUNC) as opened:
            _write_all(opened, memoryview(json.dumps(plan.as_json()).encode()))
            os.fsync(opened.fileno())
        self._tree.move(made, path)

    def staged(self, repo: str, revision: str, commit: str = "") -> Plan | None:
        """Return the staged plan, None unless the marker of this source and every file with its size exist.

        `commit` is the required commit, "" for any.
        """
        plan = self._read(_MARKER)
        if plan is None or not plan.is_of(repo, revision, commit):
            return None
        return plan if all(self._tree.size(file.path) == file.size for file in plan.files) else None

    def pinned(self, repo: str, revision: str, commit: str = "") -> Plan | None:
        """Return the plan of an earlier run for this source, even one whose marker is no longer valid."""
        plans = filter(None, (self._read(_PINNED), self._read(_MARKER)))
        return next((plan for plan in plans if plan.is_of(repo, revision, commit)), None)

    def begin(self, plan: Plan) -> None:
        """Start a plan: from now on the volume has an unfinished copy of it, and nothing of other plans.

        Raises LastingError if two of its files would be one file on this volume.
        """
        if self._folds() and (same := find_same(file.path for file in plan.files)):
            raise LastingError(HydrateExit.UNWRITABLE, f"the volume does not tell upper from lower case: {same}")
        if self._tree.exists(_MARKER):
            # The staged plan counts as unfinished from now on, and is known until its files are removed.
            self._tree.move(_MARKER, _PINNED)
        if earlier := self._read(_PINNED):
            self._remove(earlier, keep=plan)
        self._write(_PINNED, plan)

    def finish(self, plan: Plan) -> None:
        """Write the marker after everything else has been flushed, and remove the run's own files."""
        self._write(_MARKER, plan)
        self._tree.remove(_PINNED)
        with self._tree.folder(_PARTS) as (folder, name):
            shutil.rmtree(name, ignore_errors=True, dir_fd=folder)

    def holds(self, file: File) -> bool:
        """Tell whether a file of the snapshot is in its place, with its size and checksum."""
        return self._verified(file, file.path)

    def has_all(self, file: File) -> bool:
        """Tell whether the unfinished file has the file's size and checksum."""
        return self._verified(file, self.part(file))

    def _verified(self, file: File, path: str) -> bool:
        if self._tree.size(path) != file.size:
            return False
        with self._tree.open(path) as opened:
            return verify(file, opened)

    def part(self, file: File) -> str:
        """Return the path of the unfinished file, which depends on its content."""
        return f"{_PARTS}/{sha256(f'{file.checksum} {file.path}'.encode()).hexdigest()}"

    def write(self, file: File, start: int, chunks: Iterable[bytes]) -> Iterator[int]:
        """Write chunks to an unfinished file from `start` on, at most up to its size, and yield the length of each.

        Chunks are written at their offsets, never appended: a run on a lost node may still write, and would otherwise
        add to what another run has verified.
        """
        with writing(), self._tree.open(self.part(file), os.O_RDWR | os.O_CREAT) as opened:
            opened.seek(start)
            try:
                for chunk in chunks:
                    view = memoryview(chunk)[: file.size - opened.tell()]
                    length = len(view)
                    _write_all(opened, view)
                    yield length
            finally:
                os.fsync(opened.fileno())

    def accept(self, file: File) -> None:
        """Move a verified file to its place."""
        self._tree.move(self.part(file), file.path)

    def begun(self, file: File) -> int:
        """Return the present size of an unfinished file in bytes."""
        return max(0, self._tree.size(self.part(file)))

    def discard(self, file: File) -> None:
        """Remove an unfinished file."""
        self._tree.remove(self.part(file))

    def _remove(self, earlier: Plan, *, keep: Plan) -> None:
        """Remove the files of an earlier plan that are not in this one, and no other files."""
        wanted = {file.path for file in keep.files}
        unfinished = {self.part(file) for file in keep.files}
        for file in earlier.files:
            if self.part(file) not in unfinished:
                self.discard(file)
            if file.path in wanted:
                continue
            self._tree.remove(file.path)
            self._tree.remove_empty_folders(file.path)

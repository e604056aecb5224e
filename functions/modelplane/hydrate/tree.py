"""Files on a volume that others may write too: paths from its root, in which no symbolic link is followed."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


def _enter(parent: int, name: str, path: str, *, make: bool) -> int:
    """Open the folder `name` of an opened folder; `path` names it in errors."""
    try:
        return os.open(name, _FOLDER, dir_fd=parent)
    except FileNotFoundError:
        if not make:
            raise
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=parent)
        return _enter(parent, name, path, make=False)
    except OSError as error:
        if error.errno in (errno.ENOTDIR, errno.ELOOP):
            wrong = "not a folder, or a symbolic link, which is not followed; remove it from the volume"
            raise NotADirectoryError(errno.ENOTDIR, wrong, path) from error
        raise


@dataclass(frozen=True, slots=True)
class Tree:
    """The files below `root`. Each part of a path is opened in the folder before it, so that no race leads outside."""

    root: Path

    @contextmanager
    def folder(self, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
        """Yield the opened folder of a path, created with `make`, and the path's last part.

        Raises NotADirectoryError if a part before the last is no folder.
        """
        *folders, name = PurePosixPath(path).parts
        opened = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for depth, each in enumerate(folders, 1):
                entered = _enter(opened, each, "/".join(folders[:depth]), make=make)
                os.close(opened)
                opened = entered
            yield opened, name
        finally:
            os.close(opened)

    def open(self, path: str, flags: int = os.O_RDONLY) -> BinaryIO:
        """Open a regular file without a buffer; raises FileExistsError if the path names anything else."""
        with self.folder(path, make=bool(flags & os.O_CREAT)) as (folder, name):
            try:
                # A pipe without a writer would block.
                opened = os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666, dir_fd=folder)
            except OSError as error:
                raise OSError(error.errno, error.strerror, path) from error
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            os.close(opened)
            raise FileExistsError(errno.EEXIST, "not a regular file; remove it from the volume", path)
        return os.fdopen(opened, "r+b" if flags & (os.O_RDWR | os.O_WRONLY) else "rb", buffering=0)

    def _stat(self, path: str) -> os.stat_result | None:
        """Return the status of what a path names, a link's own, None if it names nothing."""
        try:
            with self.folder(path) as (folder, name):
                return os.stat(name, dir_fd=folder, follow_symlinks=False)
        except OSError:
            return None

    def exists(self, path: str) -> bool:
        """Tell whether a path names anything."""
        return self._stat(path) is not None

    def size(self, path: str) -> int:
        """Return the size of a regular file in bytes, -1 if the path names none."""
        found = self._stat(path)
        return found.st_size if found and stat.S_ISREG(found.st_mode) else -1

    def move(self, path: str, to: str) -> None:
        """Move a file atomically, over what is there, and flush the entries of its new folder to disk."""
        with self.folder(path) as (source, name), self.folder(to, make=True) as (folder, new):
            os.replace(name, new, src_dir_fd=source, dst_dir_fd=folder)
            os.fsync(folder)

    def remove(self, path: str) -> None:
        """Remove a file; a path that names none is no error."""
        with suppress(FileNotFoundError, NotADirectoryError), self.folder(path) as (folder, name):
            os.unlink(name, dir_fd=folder)

    def remove_empty_folders(self, path: str) -> None:
        """Remove the folders of a path that are empty, from the last one up."""
        for each in PurePosixPath(path).parents[:-1]:
            try:
                with self.folder(str(each)) as (folder, name):
                    os.rmdir(name, dir_fd=folder)
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
                return

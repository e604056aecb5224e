"""Downloads a snapshot to a volume: file by file, resuming, each file verified, and the marker last."""

import time
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path

from modelplane.hydrate.failure import BrokenError, LastingError, NoResumeError, ShortError
from modelplane.hydrate.hub import Hub
from modelplane.hydrate.plan import File, Plan
from modelplane.hydrate.progress import Progress, readable
from modelplane.hydrate.volume import Volume, writing
from modelplane.model.staging import HydrateExit

#: Number of times that a file may arrive with a wrong checksum.
_WRONG_BYTES = 3
#: Longest pause between two tries, in seconds, and the longest one that a hub may ask for.
_LONGEST_PAUSE, _LONGEST_ASKED = 60.0, 3600.0


@dataclass(frozen=True, slots=True)
class HydrateSettings:
    """The settings of a run. It ends after `tries` in a row without a byte; `pause`, in seconds, doubles between tries.

    `limit` is the most bytes of the snapshot, None for no limit but the volume's: a file share has no size of its own.
    `commit` is the one to download, "" for the revision's.
    """

    repo: str
    revision: str
    target: Path
    hub: Hub
    say: Callable[[str], None]
    workers: int = 4
    tries: int = 8
    pause: float = 1.0
    limit: int | None = None
    commit: str = ""


@dataclass(frozen=True, slots=True)
class _Run:
    settings: HydrateSettings
    volume: Volume
    plan: Plan
    progress: Progress

    def bring(self, file: File) -> None:
        """Download, verify and place one file; raises HydrateError."""
        if self.volume.holds(file):
            self.progress.found(file.size)
            return
        self.progress.found(self.volume.begun(file))
        for _ in range(_WRONG_BYTES):
            self._download(file)
            if self.volume.has_all(file):
                self.volume.accept(file)
                return
            self.settings.say(f"{file.path}: other bytes than the hub promised; once more from the start")
            self.progress.found(-self.volume.begun(file))
            self.volume.discard(file)
        raise LastingError(HydrateExit.CORRUPT, f"{file.path}: {_WRONG_BYTES} times other bytes than the hub promised")

    def _download(self, file: File) -> None:
        """Continue the unfinished file until it has its size, or the hub has no more of it."""
        if file.size == 0:
            for _ in self.volume.write(file, 0, ()):
                pass
        failures = 0
        while (start := self.volume.begun(file)) < file.size:
            try:
                for size in self.volume.write(file, start, self.settings.hub.read(self.plan, file, start)):
                    self.progress.came(size)
                broken = BrokenError(f"{file.path}: the connection ended early")
            except ShortError:
                return
            except BrokenError as error:
                broken = error
            grown = self.volume.begun(file) - start
            if isinstance(broken, NoResumeError):
                self.progress.found(-start)
                self.volume.discard(file)
            if self.volume.begun(file) < file.size:
                failures = 0 if grown else failures + 1
                _pause(self.settings, broken, failures)


def _pause(settings: HydrateSettings, broken: BrokenError, failures: int) -> None:
    """Wait before the next try; raises the failure after `failures` fruitless tries in a row."""
    if failures >= settings.tries:
        raise broken
    pause = min(settings.pause * 2 ** max(0, failures - 1), _LONGEST_PAUSE)
    pause = max(pause, min(broken.wait or 0.0, _LONGEST_ASKED))
    settings.say(f"{broken}; next try in {pause:.0f} s")
    time.sleep(pause)


def _ask(settings: HydrateSettings, revision: str) -> Plan:
    """Return the plan from the hub, with retries."""
    for failures in range(1, settings.tries + 1):
        try:
            return settings.hub.plan(settings.repo, revision)
        except BrokenError as broken:
            _pause(settings, broken, failures)
    raise AssertionError("the last try returns or raises")


def _plan(settings: HydrateSettings, volume: Volume) -> Plan:
    """Return the plan: that of an earlier unfinished run, even if its revision has moved, else the hub's."""
    begun = volume.pinned(settings.repo, settings.revision, settings.commit)
    if begun is not None:
        try:
            _ask(settings, begun.commit)
        except LastingError as gone:
            if gone.exit_code is not HydrateExit.NOT_FOUND:
                raise
            settings.say(f"commit {begun.commit} is gone; starting over")
        else:
            return begun
    return replace(_ask(settings, settings.commit or settings.revision), revision=settings.revision)


def resolve(settings: HydrateSettings) -> Plan:
    """Return the plan of the next run and pin it on the volume, so that the run uses it; raises HydrateError."""
    with writing():
        volume = Volume(settings.target)
        if staged := volume.staged(settings.repo, settings.revision, settings.commit):
            return staged
        plan = _plan(settings, volume)
        volume.begin(plan)
        settings.say(f"{plan.repo} at {plan.revision or 'its default branch'} is commit {plan.commit}")
        return plan


def hydrate(settings: HydrateSettings) -> Plan:
    """Download the snapshot and return its plan; raises HydrateError, and then writes no marker."""
    with writing():
        return _hydrate(settings, Volume(settings.target))


def _hydrate(settings: HydrateSettings, volume: Volume) -> Plan:
    if staged := volume.staged(settings.repo, settings.revision, settings.commit):
        settings.say(f"{settings.repo} is staged already, at commit {staged.commit}")
        return staged
    plan = _plan(settings, volume)
    if settings.limit is not None and settings.limit < plan.size:
        message = f"{plan.repo} has {readable(plan.size)}, and may have {readable(settings.limit)}"
        raise LastingError(HydrateExit.DISK_FULL, message)
    if 0 < volume.size < plan.size:
        message = f"{plan.repo} has {readable(plan.size)}, and the volume {readable(volume.size)}"
        raise LastingError(HydrateExit.DISK_FULL, message)
    volume.begin(plan)
    settings.say(f"{plan.repo} at commit {plan.commit}: {len(plan.files)} files, {readable(plan.size)}")
    run = _Run(settings, volume, plan, Progress(plan.size, settings.say))
    with ThreadPoolExecutor(settings.workers) as pool:
        brought = [pool.submit(run.bring, file) for file in plan.files]
        for each in wait(brought, return_when=FIRST_EXCEPTION).not_done:
            each.cancel()
    failures = [failure for each in brought if not each.cancelled() and (failure := each.exception())]
    if failures:
        raise min(failures, key=lambda failure: not isinstance(failure, LastingError))
    volume.finish(plan)
    settings.say(f"{plan.repo} is staged: {len(plan.files)} files, {readable(plan.size)}, all verified")
    return plan

"""Runs commands side by side: `python -m modelplane_dev.processes.beside NAME=COMMAND ...`.

Each line of a command is prefixed with its name. The last line says how long the command took, and its processor time,
including processes that it has started and waited for. All commands run to their ends, even if others fail;
the exit code is that of the first that fails, in the order in which they were given. The last lines of those that
failed are printed again at the very end, and after them the tests that failed, a line each: a failure may be an hour of
other commands' output before the end, and the end is what is read first.
"""

import os
import subprocess
import threading
import time
from collections import deque
from dataclasses import dataclass, field

import click

from modelplane_dev.processes.process import DIE_WITH_PARENT

_PRINTING = threading.Lock()
_LAST_LINES = 12
#: How pytest begins the lines of its summary that name the tests that failed. In CI it does not cut messages, so that a
#: single one may fill the last lines.
_FAILURES = ("FAILED ", "ERROR ")
_WIDTH = 240


@dataclass(frozen=True, slots=True)
class _Command:
    """A command of the shell, and what its lines begin with."""

    name: str
    text: str
    last: deque[str] = field(default_factory=lambda: deque(maxlen=_LAST_LINES))
    failures: list[str] = field(default_factory=list)

    def run(self) -> int:
        """Run the command to its end; return its exit code."""
        started = time.monotonic()
        command = [*DIE_WITH_PARENT, "bash", "-c", f"exec {self.text}"]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        ) as process:
            for line in process.stdout or ():
                self._say(line)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = code = os.waitstatus_to_exitcode(status)
        lasted, busy = time.monotonic() - started, used.ru_utime + used.ru_stime
        self._say(f"{'failed' if code else 'passed'} after {lasted:.0f} s, {busy:.0f} s of processor time\n")
        return code

    def repeat(self) -> None:
        """Print the last lines once more, and the tests that failed."""
        for line in (*self.last, *self.failures):
            click.echo(f"{self.name} | {line}", nl=False)

    def _say(self, line: str) -> None:
        self.last.append(line)
        if line.startswith(_FAILURES):
            self.failures.append(f"{line.rstrip()[:_WIDTH]}\n")
        with _PRINTING:
            click.echo(f"{self.name} | {line}", nl=False)


def _parse(argument: str) -> _Command:
    name, given, text = argument.partition("=")
    if not given:
        raise click.UsageError(f"{argument} is not NAME=COMMAND")
    return _Command(name, text)


@click.command(help=__doc__)
@click.argument("commands", nargs=-1, required=True)
def main(commands: tuple[str, ...]) -> None:
    """Run the commands; the parent's thread that starts a process must live as long as that."""
    codes: dict[str, int] = {}

    def run(command: _Command) -> None:
        codes[command.name] = command.run()

    parsed = [_parse(each) for each in commands]
    threads = [threading.Thread(target=run, args=(each,)) for each in parsed]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for each in parsed:
        if codes[each.name]:
            each.repeat()
    raise SystemExit(next((codes[each.name] for each in parsed if codes[each.name]), 0))


if __name__ == "__main__":
    main()

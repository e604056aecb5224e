"""Runs commands side by side: `python -m modelplane_dev.processes.beside NAME=COMMAND ...`.

Each line that a command prints stands behind its name. All run to their ends, whatever becomes of the others; the exit
code is that of the first that fails, in the order in which they were given.
"""

import subprocess
import threading
import time
from dataclasses import dataclass

import click

from modelplane_dev.processes.process import DIE_WITH_PARENT

_PRINTING = threading.Lock()


@dataclass(frozen=True, slots=True)
class _Command:
    """A command of the shell, and what its lines begin with."""

    name: str
    text: str

    def run(self) -> int:
        """Run the command to its end; return its exit code."""
        started = time.monotonic()
        command = [*DIE_WITH_PARENT, "bash", "-c", f"exec {self.text}"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            for line in process.stdout or ():
                self._say(line)
        code = process.returncode
        self._say(f"{'failed' if code else 'passed'} after {time.monotonic() - started:.0f} s\n")
        return code

    def _say(self, line: str) -> None:
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
    raise SystemExit(next((codes[each.name] for each in parsed if codes[each.name]), 0))


if __name__ == "__main__":
    main()

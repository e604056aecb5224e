"""Options that commands about a fleet share: the files or the control cluster that it is read from."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import click

#: The exit code of all commands for input that cannot be used.
BAD_INPUT: Final = 2


@dataclass(frozen=True, slots=True)
class Where:
    """Where a fleet is read: the files of `paths`, or the control cluster that kubectl's options say.

    `namespace` is "" where the command line names none; `everywhere`: all namespaces.
    """

    paths: tuple[str, ...] = ()
    namespace: str = ""
    everywhere: bool = False
    context: str = ""
    kubeconfig: str = ""
    user: str = ""

    @property
    def live(self) -> bool:
        """Return whether a control cluster is asked."""
        return not self.paths


def fleet_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say where the fleet is read; the command gets them as `where`."""
    return _with_where(command, ("-f", "--filename", "--from"))


def snapshot_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the same options without -f, which names the files of an edit."""
    return _with_where(command, ("--from",))


def _with_where(command: Callable[..., None], files: tuple[str, ...]) -> Callable[..., None]:
    @functools.wraps(command)
    def with_where(**given: Any) -> None:
        names = ("paths", "namespace", "everywhere", "context", "kubeconfig", "user")
        where = Where(**{name: given.pop(name) for name in names})
        if where.live or not (where.context or where.kubeconfig or where.user):
            return command(where=where, **given)
        raise click.UsageError(
            f"{files[0]} reads files, and --context, --kubeconfig and --as name a control cluster: give one"
        )

    options = (
        click.option(
            *files,
            "paths",
            metavar="PATH",
            multiple=True,
            help="Read what kubectl exports from files, folders or - (standard input), not a control cluster.",
        ),
        click.option("-n", "--namespace", default="", help="Namespace; by default that of kubectl's context."),
        click.option("-A", "--all-namespaces", "everywhere", is_flag=True, help="All namespaces."),
        click.option("--context", default="", help="Context of kubectl's configuration."),
        click.option("--kubeconfig", default="", help="kubectl's configuration file."),
        click.option("--as", "user", default="", help="User to act as."),
    )
    for option in reversed(options):
        with_where = option(with_where)
    return with_where


def output_option(*formats: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return the option `-o` with these formats, of which the first is the default."""
    return click.option(
        "-o", "--output", type=click.Choice(formats), default=formats[0], show_default=True, help="Format."
    )


#: The option that names the manifests of a fleet, which are reconciled.
from_option: Final = click.option(
    "-f",
    "--filename",
    "--from",
    "paths",
    metavar="PATH",
    multiple=True,
    required=True,
    help="Manifests of the fleet, - for stdin.",
)

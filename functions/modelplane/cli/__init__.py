"""The command line `modelplane`: each command is imported when it is called, so that `--help` is instant."""

import errno
import os
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any, Final

import click

from modelplane import __version__


@dataclass(frozen=True, slots=True)
class _Entry:
    """The module of a command, and the line that help shows without importing it.

    `extra` is the package extra that the command needs, "" for none: images have it. `name` is that of the command in
    its module.
    """

    module: str
    summary: str
    extra: str = ""
    name: str = "command"


#: Exit codes that no command gives an answer with: Python's own, 1, would read as "not placed" or "no match".
INTERRUPTED: Final = 130
FAILED: Final = 70
#: Whatever read the output has ended, as `head` does: the code of a program that SIGPIPE ends.
UNREAD: Final = 141
#: What a full or broken disk answers to output.
_UNWRITABLE: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
#: The extra for the image only: the server, and the Hub's client.
_FUNCTIONS: Final = "functions"

_COMMANDS: Final[Mapping[str, _Entry]] = {
    "capacity": _Entry("modelplane.cli.capacity", "Show what is free, and how many more replicas fit where."),
    "cel": _Entry("modelplane.cli.cel", "Try device selectors on devices: which match, and why not."),
    "check": _Entry("modelplane.cli.check", "Check that a control cluster has what Modelplane needs."),
    "class": _Entry("modelplane.cli.classes", "Print an InferenceClass from what the nodes of a pool publish."),
    "completion": _Entry(
        "modelplane.cli.shell", "Print a script that completes commands in a shell.", name="completion"
    ),
    "drain": _Entry("modelplane.cli.drain", "Show what draining a cluster would do."),
    "expand": _Entry("modelplane.cli.expand", "Print a deployment of a ClusterModel with engines of its own."),
    "get": _Entry("modelplane.cli.get", "Show the fleet as it stands, on a control cluster or in files."),
    "help": _Entry("modelplane.cli.shell", "Show what a command does.", name="show_help"),
    "hydrate": _Entry("modelplane.cli.hydrate", "Download a model repository onto a volume and verify it.", _FUNCTIONS),
    "inventory": _Entry(
        "modelplane.cli.inventory", "Publish what the nodes of pools have, on the cluster.", _FUNCTIONS
    ),
    "logs": _Entry("modelplane.cli.replica_logs", "Print what the engines of a replica write."),
    "observe": _Entry("modelplane.cli.observe", "Answer scrapes, and publish what the gateway ejects.", _FUNCTIONS),
    "plan": _Entry("modelplane.cli.plan", "Show what an edit would do to a fleet."),
    "preview": _Entry("modelplane.cli.preview", "Show where the deployments in manifests run, without a cluster."),
    "profiles": _Entry("modelplane.cli.profiles", "Show which profiles of a ClusterModel could run on a fleet."),
    "serve": _Entry("modelplane.cli.serve", "Serve one of the composition functions over gRPC.", _FUNCTIONS),
    "tree": _Entry("modelplane.cli.tree", "Show what an object has become, and how each part of it stands."),
    "version": _Entry("modelplane.cli.shell", "Show the version.", name="version"),
    "why": _Entry("modelplane.cli.why", "Show what an object waits for, the deepest cause first."),
}


class _Commands(click.Group):
    """A group whose commands are imported one at a time."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names of all commands."""
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """Import and return a command, None for an unknown name; raises ClickException for a missing extra."""
        entry = _COMMANDS.get(cmd_name)
        if entry is None:
            return None
        try:
            command: click.Command = getattr(import_module(entry.module), entry.name)
        except ModuleNotFoundError as error:
            if not entry.extra or (error.name or "").startswith("modelplane"):
                raise
            lacking = f"modelplane {cmd_name}: no module {error.name}, which the extra {entry.extra} brings"
            raise click.ClickException(f"{lacking}: pip install 'modelplane[{entry.extra}]'") from error
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name; for a name that is none, say which are near."""
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            near = get_close_matches(args[0], _COMMANDS)
            nearest = f" Did you mean {' or '.join(near)}?" if near else ""
            ctx.fail(f"No such command {args[0]!r}.{nearest}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; one that is interrupted, or fails by itself, exits with a code that is no answer."""
        try:
            try:
                return super().invoke(ctx)
            finally:
                # What is still to be written may fail, too.
                sys.stdout.flush()
        except KeyboardInterrupt:
            code = INTERRUPTED
        except BrokenPipeError:
            _write_nowhere()
            code = UNREAD
        except (click.exceptions.Exit, click.Abort, click.ClickException):
            raise
        except Exception as error:  # noqa: BLE001 - what is not said in one line is printed whole
            code = FAILED
            if isinstance(error, OSError) and error.errno in _UNWRITABLE:
                _write_nowhere()
                click.echo(f"cannot write: {error.strerror}", err=True)
            else:
                traceback.print_exc()
        return ctx.exit(code)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as above
        """Write the list of commands."""
        of_images = {name for name, entry in _COMMANDS.items() if entry.extra}
        for heading, names in (("Commands", _COMMANDS.keys() - of_images), ("Commands of the images", of_images)):
            with formatter.section(heading):
                formatter.write_dl([(name, _COMMANDS[name].summary) for name in sorted(names)])


def _write_nowhere() -> None:
    """Let nothing more be written to standard output, not even at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError):
        return  # it is no file, as in tests
    finally:
        os.close(nowhere)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="modelplane")
def main() -> None:
    """Modelplane: AI inference over a fleet of Kubernetes GPU clusters."""


def kubectl_main() -> None:
    """Run as a plugin: `kubectl modelplane`."""
    main(prog_name="kubectl modelplane")


def complete() -> None:
    """Answer kubectl, which asks for what may follow the arguments of `kubectl modelplane`."""
    from modelplane.cli.shell import print_completions

    print_completions(main, sys.argv[1:])

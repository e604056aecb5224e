"""`modelplane help`, `version` and `completion`, and what kubectl asks to complete `kubectl modelplane`."""

from collections.abc import Sequence
from typing import Final

import click
from click.shell_completion import ShellComplete, get_completion_class

from modelplane import __version__

_SHELLS: Final = ("bash", "zsh", "fish")
#: What kubectl reads after the completions: that no file names are meant.
_NO_FILES: Final = ":4"
_EXAMPLES: Final = """\b
Examples:
  source <(modelplane completion bash)
  modelplane completion fish > ~/.config/fish/completions/modelplane.fish
"""


@click.command("help", epilog="\b\nExample:\n  modelplane help get\n")
@click.argument("command", required=False)
@click.pass_context
def show_help(ctx: click.Context, command: str | None) -> None:
    """Show what modelplane, or one of its commands, does."""
    parent = ctx.find_root()
    if command is None:
        click.echo(parent.get_help())
        return
    group = parent.command
    found = group.get_command(parent, command) if isinstance(group, click.Group) else None
    if found is None:
        parent.fail(f"No such command {command!r}.")
    click.echo(found.get_help(click.Context(found, info_name=command, parent=parent)))


@click.command("version", epilog="\b\nExample:\n  modelplane version\n")
def version() -> None:
    """Show the version, which is that of the Configuration and its functions."""
    click.echo(f"modelplane, version {__version__}")


@click.command(
    "completion",
    epilog=_EXAMPLES,
)
@click.argument("shell", type=click.Choice(_SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a script with which a shell completes commands and options.

    `kubectl modelplane` is completed by kubectl itself, of version 1.26 or later.
    """
    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"{shell}: choose one of {', '.join(_SHELLS)}")
    click.echo(found(ctx.find_root().command, {}, "modelplane", "_MODELPLANE_COMPLETE").source())


def print_completions(command: click.Command, arguments: Sequence[str]) -> None:
    """Print what may follow arguments, the last of which is incomplete, as kubectl reads it."""
    *given, incomplete = arguments or ("",)
    shell = ShellComplete(command, {}, "modelplane", "_MODELPLANE_COMPLETE")
    for each in shell.get_completions(given, incomplete):
        if each.type == "plain":
            click.echo(f"{each.value}\t{each.help}" if each.help else each.value)
    click.echo(_NO_FILES)

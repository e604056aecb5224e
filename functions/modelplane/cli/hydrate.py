"""`modelplane hydrate`: brings a repository's snapshot onto a volume, as the Job of a ModelCache does."""

import os
import signal
import sys
from pathlib import Path

import click

from modelplane.hydrate import Settings, hydrate
from modelplane.hydrate.failure import HydrateError
from modelplane.hydrate.hub import Hub, read_token


def _say(line: str) -> None:
    click.echo(line, err=True)


@click.command("hydrate")
@click.option("--repo", required=True, envvar="MODELPLANE_REPO", help="Repository, such as Qwen/Qwen3-8B.")
@click.option("--revision", default="", envvar="MODELPLANE_REVISION", help="Branch, tag or commit.")
@click.option(
    "--target",
    required=True,
    envvar="MODELPLANE_TARGET",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder where the volume is mounted; the files are put at its root.",
)
@click.option("--endpoint", envvar="HF_ENDPOINT", help="Hub to ask instead of the public one.")
@click.option("--workers", default=4, show_default=True, type=click.IntRange(1, 64), help="Files at a time.")
@click.option(
    "--tries", default=8, show_default=True, type=click.IntRange(1), help="Tries in a row that bring nothing."
)
@click.option("--pause", default=1.0, show_default=True, type=click.FloatRange(0), help="First pause, in seconds.")
def command(  # noqa: PLR0913 - click gives each option as an argument
    *, repo: str, revision: str, target: Path, endpoint: str | None, workers: int, tries: int, pause: float
) -> None:
    """Download a repository and verify every byte; a run that was interrupted is finished by the next.

    The token of a gated repository is taken from HF_TOKEN. The exit code says why a run ended early.
    """
    # The first process of a container is not ended by the signal otherwise. Whenever it ends, the next run goes on.
    signal.signal(signal.SIGTERM, lambda *_: os._exit(128 + signal.SIGTERM))
    try:
        hub = Hub(endpoint, read_token(os.environ.get("HF_TOKEN")))
        hydrate(Settings(repo, revision, target, hub, _say, workers, tries, pause))
    except HydrateError as failure:
        # What happened comes last: of a failed pod, the end of the log is what is told.
        _say(f"{failure.exit_code.meaning}\n{failure}")
        sys.exit(int(failure.exit_code))

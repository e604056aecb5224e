"""`modelplane hydrate`: downloads a repository's snapshot onto a volume, as the Job of a ModelCache does."""

import os
import signal
import sys
from pathlib import Path

import click

from modelplane.hydrate import HydrateSettings, hydrate, resolve
from modelplane.hydrate.failure import HydrateError
from modelplane.hydrate.hub import Hub, read_token

_GIB = 2**30
_EXAMPLES = """\b
Example:
  modelplane hydrate --repo Qwen/Qwen3-8B --revision main --target /mnt/weights
"""


def _log(line: str) -> None:
    click.echo(line, err=True)


@click.command("hydrate", epilog=_EXAMPLES)
@click.option("--repo", required=True, envvar="MODELPLANE_REPO", help="Repository, such as Qwen/Qwen3-8B.")
@click.option("--revision", default="", envvar="MODELPLANE_REVISION", help="Branch, tag or commit.")
@click.option(
    "--target",
    required=True,
    envvar="MODELPLANE_TARGET",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder where the volume is mounted; the files are written to its root.",
)
@click.option("--endpoint", envvar="HF_ENDPOINT", help="URL of the hub, instead of the public one.")
@click.option("--workers", default=4, show_default=True, type=click.IntRange(1, 64), help="Files at a time.")
@click.option(
    "--tries", default=8, show_default=True, type=click.IntRange(1), help="Attempts in a row without progress."
)
@click.option(
    "--pause",
    default=1.0,
    show_default=True,
    type=click.FloatRange(0),
    help="First pause, in seconds.",
)
@click.option("--size-gib", type=click.IntRange(1), help="Most that the repository may have, in GiB.")
@click.option("--commit", default="", help="Commit to download, whatever the revision names now.")
@click.option(
    "--resolve",
    "report",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Download nothing: write the commit that the next run downloads to this file.",
)
def command(  # noqa: PLR0913 - click gives each option as an argument
    *,
    repo: str,
    revision: str,
    target: Path,
    endpoint: str | None,
    workers: int,
    tries: int,
    pause: float,
    size_gib: int | None,
    commit: str,
    report: Path | None,
) -> None:
    """Download a repository and verify every byte; the next run continues one that was interrupted.

    The token of a gated repository is read from HF_TOKEN.
    """
    # Process 1 of a container ignores the signal otherwise. The next run continues from wherever this one ends.
    signal.signal(signal.SIGTERM, lambda *_: os._exit(128 + signal.SIGTERM))
    try:
        hub = Hub(endpoint, read_token(os.environ.get("HF_TOKEN")))
        limit = size_gib * _GIB if size_gib else None
        settings = HydrateSettings(repo, revision, target, hub, _log, workers, tries, pause, limit, commit)
        if report:
            report.write_text(resolve(settings).commit)
        else:
            hydrate(settings)
    except HydrateError as failure:
        # The cause comes last: a failed pod's status shows the end of its log.
        _log(f"{failure.exit_code.meaning}\n{failure}")
        sys.exit(int(failure.exit_code))

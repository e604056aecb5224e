"""`modelplane plan`: what an edit would do to a fleet."""

from dataclasses import dataclass

import click

from modelplane.cli.options import Where, output_option, snapshot_options

_EXAMPLES = """\b
Examples:
  modelplane plan -f new.yaml
  modelplane plan --set ml/qwen3-8b.replicas=4
  modelplane plan --delete ModelDeployment/ml/qwen3-8b -o json
  kubectl get modelplane -A -o json | modelplane plan -f new.yaml --from -
"""


@dataclass(frozen=True, slots=True)
class Edits:
    """The edits of a command line: files to be applied, objects (kind, namespace, name) to be deleted, and new counts.

    The namespace of a kind without one is "".
    """

    files: tuple[str, ...] = ()
    deletes: tuple[tuple[str, str, str], ...] = ()
    scales: tuple[tuple[str, str, int], ...] = ()


def _deletes(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> tuple[tuple[str, str, str], ...]:
    found = []
    for each in given:
        kind, *names = each.split("/")
        if not kind or len(names) not in {1, 2} or not all(names):
            raise click.BadParameter(f"{each} is no KIND/NAMESPACE/NAME, or KIND/NAME of a kind without namespace")
        found.append((kind, names[0] if len(names) == 2 else "", names[-1]))
    return tuple(found)


def _scales(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> tuple[tuple[str, str, int], ...]:
    found = []
    for each in given:
        path, _equals, number = each.partition("=")
        namespace, _slash, rest = path.partition("/")
        name, _dot, field = rest.rpartition(".")
        if not (namespace and name and field == "replicas" and number.isascii() and number.isdigit()):
            raise click.BadParameter(f"{each} is no NAMESPACE/NAME.replicas=NUMBER, the only field that can be set")
        found.append((namespace, name, int(number)))
    return tuple(found)


@click.command("plan", epilog=_EXAMPLES)
@click.option("-f", "--filename", "files", metavar="FILE", multiple=True, help="Manifests that would be applied.")
@click.option("--delete", "deletes", metavar="KIND/NS/NAME", multiple=True, callback=_deletes, help="To be deleted.")
@click.option("--set", "scales", metavar="NS/NAME.replicas=N", multiple=True, callback=_scales, help="To be scaled.")
@snapshot_options
@output_option("table", "json", "yaml")
def command(
    *,
    files: tuple[str, ...],
    deletes: tuple[tuple[str, str, str], ...],
    scales: tuple[tuple[str, str, int], ...],
    where: Where,
    output: str,
) -> None:
    """Show what an edit would do: which replicas start, move, change and end, and what would wait.

    The control plane settles on this machine with the edit and without it. Deployments that compete for room decide in
    every order: what all orders agree on is certain, anything else contested, with who competes and how it may end.
    What happens without the edit too stands apart. Clusters are taken for healthy: what is new would start.

    Exit code: 0 all placed, 1 something waits, loses all that serves or is contested, 2 bad input, 3 not settled.
    """
    from modelplane.cli.planning import show

    show(where, Edits(files, deletes, scales), output)

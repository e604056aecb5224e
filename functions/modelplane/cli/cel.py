"""`modelplane cel`: which declared devices a selector matches, which it does not, and why."""

import click

_EXAMPLES = """\b
Examples:
  modelplane cel 'device.driver == "gpu.nvidia.com"' -f examples/fleet
  kubectl get inferenceclusters -o yaml | modelplane cel 'has(device.capacity["gpu.nvidia.com"].memory)' -f -
  modelplane cel -f examples/fleet
  modelplane cel --jsonl < expressions.jsonl
"""


class _ManyFiles(click.Command):
    """A command whose `-f` takes all the words up to the next option, as a shell's glob gives them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat `-f` before each of its files."""
        spread: list[str] = []
        files = False
        for word in args:
            if files and (word == "-" or not word.startswith("-")):
                if spread[-1] not in {"-f", "--file"}:
                    spread.append("-f")
            else:
                files = word in {"-f", "--file"}
            spread.append(word)
        return super().parse_args(ctx, spread)


@click.command("cel", cls=_ManyFiles, epilog=_EXAMPLES)
@click.argument("expression", required=False)
@click.option("-f", "--file", "files", multiple=True, metavar="FILE...", help="Manifests, folders of them, or -.")
@click.option(
    "-o", "--output", type=click.Choice(["table", "json", "yaml"]), default="table", show_default=True, help="Format."
)
@click.option("--jsonl", is_flag=True, help="Answer each line of standard input, {expression, device}, with one line.")
def command(*, expression: str | None, files: tuple[str, ...], output: str, jsonl: bool) -> None:
    """Try the device selector EXPRESSION on the devices that manifests declare.

    Devices are those of an InferenceClass (spec.devices) and of an InferenceCluster (status.gpuPools). Without
    EXPRESSION they are only checked for what Kubernetes would refuse.

    Exit code: 0 something matches (without EXPRESSION: all are accepted), 1 nothing matches or something is refused,
    2 bad input, or EXPRESSION does not compile.
    """
    if jsonl and (expression is not None or files):
        raise click.UsageError("--jsonl reads expressions and devices from standard input alone.")
    if not jsonl and not files:
        raise click.UsageError("Missing option '-f' / '--file'.")
    from modelplane.cli.answers.cel import answer_lines, try_selector

    if jsonl:
        answer_lines()
    else:
        try_selector(expression, files, output)

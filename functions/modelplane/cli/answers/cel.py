"""What `modelplane cel` does once its arguments are read."""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, NoReturn

import click
from rich.table import Table
from rich.text import Text

from modelplane import cel
from modelplane.cel.devices import DeviceError
from modelplane.cli.console import echo, printing, progress
from modelplane.model.fleet import Device
from modelplane.reading.manifests import InvalidInput, LocatedObject, read_manifests

_NOTHING, _BAD_INPUT = 1, 2
_COLORS = {"match": "green", "no-match": "yellow", "accepted": "green"}


@dataclass(frozen=True, slots=True)
class _Row:
    """The verdict on one declared device, and where it is declared."""

    object: str
    pool: str | None
    device: str
    verdict: str
    why: str | None


def try_selector(expression: str | None, files: tuple[str, ...], output: str) -> None:
    """Print which devices a selector matches; exit with the code of the command."""
    selector = None if expression is None else cel.compiled(expression)
    if isinstance(selector, cel.SelectorError):
        _refuse(selector, output)
    try:
        with progress("Reading devices"):
            rows = [_evaluated(where, pool, device, selector) for where, pool, device in _declared(files)]
    except InvalidInput as error:
        click.echo(error, err=True)
        sys.exit(_BAD_INPUT)
    if not rows:
        wanted = "pass an InferenceClass (spec.devices) or an InferenceCluster (status.gpuPools)"
        click.echo(f"{', '.join(files)}: no devices are declared; {wanted}", err=True)
        sys.exit(_BAD_INPUT)
    if output == "table":
        _show(rows)
    else:
        echo({"expression": expression, "error": None, "devices": [asdict(row) for row in rows]}, output)
    refused = any(row.verdict == "refused" for row in rows)
    found = selector is None or any(row.verdict == cel.Outcome.MATCH for row in rows)
    sys.exit(0 if found and not refused else _NOTHING)


def _refuse(error: cel.SelectorError, output: str) -> NoReturn:
    if output == "table":
        click.echo(f"selector does not compile: line {error.line}, column {error.column}: {error.why}", err=True)
    else:
        fault = {"line": error.line, "column": error.column, "why": error.why}
        echo({"expression": None, "error": fault, "devices": []}, output)
    sys.exit(_BAD_INPUT)


def _declared(files: tuple[str, ...]) -> Iterator[tuple[str, str | None, Device]]:
    """Yield each declared device with its object and pool. Raises InvalidInput."""
    for read in read_manifests(files, sys.stdin):
        if not isinstance(read.obj, dict):
            continue
        kind, name = read.obj.get("kind"), _at(read.obj, "metadata").get("name")
        where = f"{kind}/{name}"
        if kind == "InferenceClass":
            yield from ((where, None, device) for device in _devices(read, _at(read.obj, "spec"), "spec"))
        elif kind == "InferenceCluster":
            for i, pool in enumerate(_list(_at(read.obj, "status").get("gpuPools"))):
                if isinstance(pool, dict):
                    found = _devices(read, pool, f"status.gpuPools[{i}]")
                    yield from ((where, str(pool.get("name")), device) for device in found)


def _devices(read: LocatedObject, holder: dict[str, Any], path: str) -> Iterator[Device]:
    for i, entry in enumerate(_list(holder.get("devices"))):
        field = f"{path}.devices[{i}]"
        try:
            yield cel.read(entry)
        except DeviceError as error:
            where = f"{field}.{error.field}" if error.field else field
            raise InvalidInput(read.source.file, read.source.line(where), where, error.why) from None


def _at(holder: dict[str, Any], field: str) -> dict[str, Any]:
    found = holder.get(field)
    return found if isinstance(found, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _evaluated(where: str, pool: str | None, device: Device, selector: cel.Selector | None) -> _Row:
    problems = cel.problems(device)
    if problems:
        return _Row(where, pool, device.name, "refused", "; ".join(problems))
    if selector is None:
        return _Row(where, pool, device.name, "accepted", None)
    verdict = selector.evaluate(device)
    return _Row(where, pool, device.name, verdict.outcome.value, _why(verdict, selector, device))


def _why(verdict: cel.Verdict, selector: cel.Selector, device: Device) -> str | None:
    return None if verdict.why is None else cel.keys_there(verdict.why, selector.text, device)


def _show(rows: list[_Row]) -> None:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("OBJECT", "POOL", "DEVICE", "VERDICT", "WHY"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        verdict = Text(row.verdict, style=_COLORS.get(row.verdict, "red"))
        table.add_row(Text(row.object), Text(row.pool or "-"), Text(row.device), verdict, Text(row.why or ""))
    with printing() as console:
        console.print(table)
        console.print(_counted(rows))


def _counted(rows: list[_Row]) -> Text:
    """Return how many devices have each verdict, the most frequent first."""
    counts = Counter(row.verdict for row in rows).most_common()
    return Text(", ".join(f"{number} {verdict}" for verdict, number in counts), style="dim")


def answer_lines() -> None:
    """Answer each line of standard input with one line."""
    for line in sys.stdin.buffer:
        # ASCII: a lone surrogate in an answer could not be written otherwise.
        sys.stdout.write(json.dumps(_answer(line)) + "\n")
        sys.stdout.flush()


def _answer(line: bytes) -> dict[str, object]:
    """Return the answer to one line of `--jsonl`, whatever it holds."""
    try:
        asked = json.loads(line)
    except (ValueError, RecursionError) as error:
        return _failed(f"not JSON: {error}")
    if not isinstance(asked, dict) or not isinstance(asked.get("expression"), str):
        return _failed("needs an object whose expression is a string")
    try:
        device = cel.read(asked.get("device"))
    except DeviceError as error:
        return _failed(f"device: {error}")
    selector = cel.compiled(asked["expression"])
    if isinstance(selector, cel.SelectorError):
        return {"verdict": "compile-error", "line": selector.line, "column": selector.column, "why": selector.why}
    verdict = selector.evaluate(device)
    return {"verdict": verdict.outcome.value, "line": None, "column": None, "why": _why(verdict, selector, device)}


def _failed(why: str) -> dict[str, object]:
    return {"verdict": cel.Outcome.ERROR.value, "line": None, "column": None, "why": why}

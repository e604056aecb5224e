"""A fleet as tables: its clusters with their room, where every replica runs, and what was refused and why."""

from collections.abc import Iterable, Sequence
from itertools import groupby

import yaml
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from modelplane.reading.exposure import propose_service
from modelplane.reading.fleet import read_clusters
from modelplane.reading.fleet_tables import show_clusters
from modelplane.reading.reader import Reader
from modelplane.reading.tree import Manifest
from modelplane.scheduling.words import count

#: Kinds that the table of the fleet shows.
_FLEET = frozenset({"InferenceClass", "InferenceCluster"})
_GOOD, _WAITING, _BAD, _DIM = "green", "yellow", "red", "dim"


def show(
    console: Console,
    reader: Reader,
    deployments: Sequence[Manifest],
    refused: Sequence[tuple[str, str]],
    others: Sequence[Manifest] = (),
) -> None:
    """Print a fleet, its deployments (as `reading.deployments` returns them), and what was refused.

    `others` are rows for the other objects (kind, namespace, name, state, reason, message). Classes and clusters that
    are Ready and of which there is no more to say are left out: the fleet's table has them. Why a replica is placed
    where it is is a column where the deployments have it (`without_choices`).
    """
    clusters = read_clusters(reader)
    show_clusters(console, clusters)
    if not clusters:
        console.print(Text("No InferenceCluster: nothing can be placed.", style=_WAITING))
    console.print()
    for deployment in deployments:
        console.print(_deployment(deployment))
    refused_names = {name for name, _ in refused}
    accepted = [row for row in others if named(row) not in refused_names]
    rest = [row for row in accepted if row["state"] != "Ready" or row["kind"] not in _FLEET or row["message"]]
    if rest:
        console.print(_others(rest))
    if refused:
        console.print(_refused(refused))
    without = next(filter(_has_no_url, deployments), None)
    if without:
        manifest = yaml.safe_dump(
            propose_service(without["namespace"], without["name"]), sort_keys=False, default_flow_style=None
        )
        console.print(Text(f"For a URL of {without['name']} apply this ModelService:", style=_WAITING))
        # Lines are copied as they are, whatever the width of the terminal.
        console.print(Text(manifest), soft_wrap=True)


def _has_no_url(deployment: Manifest) -> bool:
    """Tell whether no ModelService selects a deployment with replicas."""
    return bool(deployment["placed"]) and not deployment["services"]


def total(deployments: Sequence[Manifest]) -> str:
    """Return how many replicas of how many deployments are placed."""
    wanted, unplaced = (sum(deployment[field] for deployment in deployments) for field in ("replicas", "unplaced"))
    return f"{wanted - unplaced} of {count(wanted, 'replica')} of {count(len(deployments), 'deployment')} placed"


def _table(*headings: str, title: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, header_style=_DIM)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table


def _deployment(deployment: Manifest) -> RenderableType:
    placed, asked, unplaced = deployment["placed"], deployment["replicas"], deployment["unplaced"]
    staying = sum(not entry["leaving"] for entry in placed)
    title = Text.assemble(
        (f"{deployment['namespace']}/{deployment['name']}", "bold"),
        "  ",
        (f"{staying} of {asked} placed", _BAD if unplaced else _GOOD),
        ("  no ModelService" if _has_no_url(deployment) else "", _WAITING),
    )
    parts: list[RenderableType] = [title]
    if placed:
        parts.append(Padding(_placements(placed), (0, 0, 0, 2)))
    for reason in deployment["reasons"]:
        clusters = f"{count(reason['count'], 'cluster')}  "
        of_profile = f"profile {reason['profile']}: " if reason.get("profile") else ""
        parts.append(Padding(Text.assemble((clusters, _BAD), of_profile, reason["message"]), (0, 0, 0, 2)))
    if deployment["remedy"]:
        parts.append(Padding(Text(deployment["remedy"], style=_WAITING), (0, 0, 0, 2)))
    if unplaced and not deployment["reasons"]:
        parts.append(Padding(Text(_condition_text(deployment, "ReplicasScheduled", "Synced")), (0, 0, 0, 2)))
    if not all(entry["ready"] for entry in placed) or _is_not_as_asked(deployment):
        parts.append(Padding(Text(_condition_text(deployment, "ReplicasReady"), style=_DIM), (0, 0, 0, 2)))
    parts += [
        Padding(Text.assemble(("warning: ", _WAITING), warning), (0, 0, 0, 2)) for warning in deployment["warnings"]
    ]
    return Padding(Group(*parts), (0, 0, 1, 0))


def _is_not_as_asked(deployment: Manifest) -> bool:
    """Tell whether a deployment whose replicas are all placed is not Ready: an edit is held, or waits for room."""
    ready = any(each["type"] == "ReplicasReady" and each["status"] == "True" for each in deployment["conditions"])
    return bool(deployment["placed"]) and not deployment["unplaced"] and not ready


def _condition_text(deployment: Manifest, *kinds: str) -> str:
    """Return reason and message of the first of these conditions that the deployment has."""
    texts = {c["type"]: f"{c['reason']}: {c['message']}" for c in deployment["conditions"]}
    return next((texts[kind] for kind in kinds if kind in texts), "not reconciled")


def without_choices(deployments: Iterable[Manifest]) -> list[Manifest]:
    """Return the deployments without why their replicas are placed where they are."""
    return [{**each, "placed": [{**entry, "why": ""} for entry in each["placed"]]} for each in deployments]


def _placements(placed: Iterable[Manifest]) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    for (cluster, pools, state, why), entries in groupby(placed, _alike):
        indices = ", ".join(str(entry["index"]) for entry in entries)
        state_text = Text(state, style=_GOOD if state == "serving" else _WAITING)
        table.add_row(cluster, indices, pools, state_text, *([Text(why, style=_DIM)] if why else ()))
    return table


def _alike(entry: Manifest) -> tuple[str, str, str, str]:
    pools = ", ".join(f"{engine} on {pool}" for engine, pool in sorted(entry["pools"].items()))
    # A profile of the short form names its engine after itself.
    pools = f"{entry['profile']}: {pools}" if entry["profile"] not in ("", *entry["pools"]) else pools
    state = "serving" if entry["ready"] else "starting"
    return entry["cluster"], pools, f"leaving, {state}" if entry["leaving"] else state, entry["why"]


def named(row: Manifest) -> str:
    """Return kind and reference of a row."""
    return f"{row['kind']} {'/'.join(filter(None, (row['namespace'], row['name'])))}"


def _others(rows: Iterable[Manifest]) -> RenderableType:
    table = _table("OBJECT", "STATE", "WHY", title="Others")
    for row in rows:
        why = f"{row['reason']}: {row['message']}" if row["message"] else row["reason"]
        style = _GOOD if row["state"] == "Ready" else _BAD if row["state"] == "NotReady" else _WAITING
        table.add_row(Text(named(row)), Text(row["state"], style=style), Text(why))
    return Padding(table, (0, 0, 1, 0))


def _refused(refused: Sequence[tuple[str, str]]) -> RenderableType:
    table = _table("OBJECT", "WHY", title="Refused")
    for name, why in refused:
        table.add_row(Text(name, style=_BAD), Text(why))
    return Padding(table, (0, 0, 1, 0))

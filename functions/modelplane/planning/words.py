"""A plan in sentences, for a terminal."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from modelplane.planning.edits import tainted
from modelplane.planning.events import Event, Name, What
from modelplane.planning.plan import Contest, Plan
from modelplane.reading.tree import Tree, items
from modelplane.scheduling.words import count

_STYLES: Final = {What.WAITS: "red", What.ENDS: "yellow"}


def show_plan(console: Console, plan: Plan) -> None:
    """Print a plan."""
    for each in plan.skew:
        console.print(Text(f"Versions differ: {each}", "red"))
    if plan.skew:
        console.print(Text("Nothing new is placed until they match; what follows is the plan from then on.", "red"))
    _show_events(console, "Certain", plan.certain)
    if not plan.certain and not plan.contested:
        console.print("Nothing changes.")
    for contest in plan.contested:
        _show_contest(console, contest, complete=plan.complete)
    _show_events(console, "Without the edit too", plan.drift)
    _show_timeline(console, plan)
    for name in plan.lost():
        before, _ = plan.least[name]
        console.print(
            Text(f"{_joined(name)} loses all {count(before, 'replica')} that serve, for a time at least", "red")
        )
    console.print(Text(verdict(plan), "yellow" if concerns(plan) else "green"))


def concerns(plan: Plan) -> bool:
    """Tell whether something is unplaced, lost or contested, or nothing can be placed at present."""
    waits = any(event.what is What.WAITS for event in plan.certain)
    return bool(plan.contested or plan.lost() or waits or plan.skew)


def verdict(plan: Plan) -> str:
    """Return what becomes of the fleet, in a line."""
    if not plan.settled:
        return "Not settled: placements still change"
    first, *others = plan.timeline
    least, most = min(step.serving for step in plan.timeline), max(step.devices for step in plan.timeline)
    serving = f"At least {least} of {first.serving} replicas serve" if others else f"{first.serving} replicas serve"
    extra = f", {count(most - first.devices, 'device')} more at the peak" if most > first.devices else ""
    return f"{serving}{extra}"


def drain_command(cluster: Tree) -> str:
    """Return the command that taints an InferenceCluster NoExecute."""
    return f"kubectl patch inferencecluster {cluster['metadata']['name']} --type=merge -p '{drain_patch(cluster)}'"


def drain_patch(cluster: Tree) -> str:
    """Return the merge patch that taints an InferenceCluster NoExecute."""
    return json.dumps({"spec": {"taints": [*items(tainted(cluster), "spec", "taints")]}})


def _show_events(console: Console, title: str, events: Iterable[Event]) -> None:
    found = Counter(events)
    if found:
        console.print(Text(title, "bold"))
    for event, times in found.items():
        repeated = f" [{times} times]" if times > 1 else ""
        console.print(Padding(Text(f"{word(event)}{repeated}", _STYLES.get(event.what, "")), (0, 0, 0, 2)))


def word(event: Event) -> str:
    """Return an event as a sentence."""
    why = f" ({event.reason})" if event.reason else ""
    return f"{_joined(event.deployment)}: {_what(event)}{why}"


def _what(event: Event) -> str:
    replica = event.replica or "a replica"
    source, target = event.source, event.target
    moves = f"is replaced on {source}" if source == target else f"moves from {source} to {target}"
    return {
        What.STARTS: f"a replica would start on {event.target}",
        What.MOVES: f"{replica} {moves}",
        What.CHANGES: f"{replica} is updated in place on {event.source}",
        What.ENDS: f"{replica} ends on {event.source}",
        What.WAITS: f"{replica} on {event.source} stays, its edit waits" if event.source else "a replica has no place",
    }[event.what]


def _show_contest(console: Console, contest: Contest, *, complete: bool) -> None:
    who = ", ".join(map(_joined, contest.competitors))
    what = f"pool {contest.pool} of {contest.cluster}" if contest.cluster else "room"
    least = "" if complete else "at least "
    console.print(Text(f"Contested: {what}, by {who}; {least}{len(contest.outcomes)} outcomes", "bold yellow"))
    if contest.not_ready:
        are = "is" if len(contest.not_ready) == 1 else "are"
        text = f"{', '.join(contest.not_ready)} {are} not Ready: what happens depends on whether and when that changes"
        console.print(Padding(Text(text, "yellow"), (0, 0, 0, 2)))
    for number, outcome in enumerate(contest.outcomes, 1):
        for at, line in enumerate(_worded(outcome)):
            console.print(Padding(Text(f"{f'{number}.' if at == 0 else '  '} {line}"), (0, 0, 0, 2)))


def _worded(outcome: Sequence[Event]) -> Iterator[str]:
    yield from map(word, outcome) if outcome else ("nothing",)


def _show_timeline(console: Console, plan: Plan) -> None:
    if len(plan.timeline) < 2:
        return
    table = Table("PASS", "SERVING", "PLACED", "DEVICES", box=None, pad_edge=False, header_style="bold")
    for step in plan.timeline:
        table.add_row(*map(str, (step.number, step.serving, step.placed, step.devices)))
    console.print(table)


def _joined(name: Name) -> str:
    return "/".join(name)

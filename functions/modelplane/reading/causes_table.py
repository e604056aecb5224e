"""An explanation (`reading.causes`) as text: the summary, the causes in their order, and why no cluster takes more."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from modelplane.reading.causes import Explanation
from modelplane.reading.fleet_tables import show_below, show_unknown, shown
from modelplane.reading.refusals import ClusterRefusal


def show_explanation(console: Console, found: Explanation) -> None:
    """Print an explanation; nothing of it is cut."""
    state = "Ready" if found.ready else "not Ready"
    summary = f", {found.summary}" if found.summary else ""
    line = Text.assemble(shown(f"{found.kind} {found.ref}: "), (state, "green" if found.ready else "red"), summary)
    console.print(line, soft_wrap=True)
    if found.room:
        console.print(shown(f"There is room for one more on {found.room}: the next pass places it."))
    if found.refusals:
        console.print("\nWhy no cluster takes another replica:")
        _show_refusals(console, found.refusals)
    for number, cause in enumerate(found.causes, 1):
        console.print()
        console.print(shown(f"{number}. {cause.kind} {cause.ref}"), soft_wrap=True)
        show_below(console, cause.message)
    show_unknown(console, found.unknown)


def _show_refusals(console: Console, refusals: Sequence[ClusterRefusal]) -> None:
    """Print refusals, those of the same words once with all of their clusters, then what else helps."""
    alike: dict[str, list[str]] = {}
    for each in refusals:
        message = f"profile {each.profile}: {each.message}" if each.profile else each.message
        alike.setdefault(message, []).append(each.cluster)
    for message, clusters in alike.items():
        console.print(shown(f"  {', '.join(dict.fromkeys(clusters))}"), soft_wrap=True)
        show_below(console, message, indent=4)
    remedies = dict.fromkeys(each.help for each in refusals if each.help)
    if remedies:
        console.print("What helps:")
    for remedy in remedies:
        show_below(console, remedy, style="yellow")

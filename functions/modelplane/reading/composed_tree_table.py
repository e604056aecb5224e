"""A tree of composed objects as indented lines: what stands where, how, and why it exists."""

from collections import Counter

from rich.console import Console

from modelplane.reading.composed_tree import Node
from modelplane.reading.fleet_tables import show_below, shown
from modelplane.scheduling.words import count

_STYLES = {"NotReady": "red", "NotRead": "yellow"}
_STEP = 2


def show_tree(console: Console, node: Node, *, wide: bool = False, indent: int = 0) -> None:
    """Print an object and all below it; `wide`: with the rule why each exists. Names are never broken."""
    at = f" on {node.place}" if node.place else ""
    state = "" if node.state == "Ready" else f"  {node.state}"
    named = " ".join(filter(None, (node.kind, node.ref)))
    line = shown(f"{' ' * indent}{named}{at}{state}", _STYLES.get(node.state, ""))
    console.print(line, soft_wrap=True)
    for text, style in ((node.message, ""), (node.rule if wide else "", "dim")):
        if text:
            show_below(console, text, indent=indent + 2 * _STEP, style=style)
    for part in node.parts:
        if part.state != "NotRead" or part.parts:
            show_tree(console, part, wide=wide, indent=indent + _STEP)
    for kind, number in sorted(Counter(each.kind for each in node.parts if each.state == "NotRead").items()):
        console.print(shown(f"{' ' * (indent + _STEP)}{count(number, kind)}, not read", "yellow"), soft_wrap=True)

"""The text of a selector: positions in it, and its limits."""

from modelplane.cel.verdict import SelectorError

#: Longest selector in UTF-8 bytes; Kubernetes' own limit.
MAX_BYTES = 10 * 1024
#: Most selectors of one object, and most characters of all of them together; compiling takes about 5 us a character.
MAX_SELECTORS = 256
MAX_CHARACTERS = 32 * 1024
#: Most tokens. A realistic selector has about twenty; parsing takes about 20 us a token.
MAX_TOKENS = 1000
#: Deepest nesting of operators, calls, brackets and macros, which is also how deep evaluation recurses.
MAX_DEPTH = 80
#: Most nodes that macros may expand to: each optMap of a chain doubles its operand.
MAX_CHECKED = 2000
#: Deepest nesting of comprehensions. Three over a device's maps come near Kubernetes' own limit by its estimate.
MAX_COMPREHENSIONS = 2
#: Most work of one evaluation, in units of about a microsecond. Kubernetes' limit of a million is higher in all cases.
MAX_WORK = 20_000


def refuse(text: str, offset: int, why: str) -> SelectorError:
    """Return the error for the character at `offset` of a selector, to be raised."""
    before = text[:offset]
    return SelectorError(before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1, why)

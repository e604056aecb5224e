"""From the text of a selector to its tree, on the grammar of cel-python.

Only the LALR grammar of cel-python is used. The tokens are our own (see `tokens`), and so is the evaluation:
cel-python's evaluator has no types, raises on comparisons that are simply false in Kubernetes, does not bound work and
is not thread-safe; adapting it would take more code than the evaluator here. The grammar is read from the package's
data, so that neither the evaluator nor its imports (date libraries, about 15 MiB) are ever loaded, and lark only with
the first selector.
"""

import threading
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modelplane.cel import tokens
from modelplane.cel.source import MAX_BYTES, refuse
from modelplane.cel.syntax import Node
from modelplane.cel.tokens import Token
from modelplane.cel.tree import TreeBuilder, TreeError

if TYPE_CHECKING:
    from lark import Lark

_lock = threading.Lock()
_loaded: list["Lark"] = []


def parse(text: str) -> Node:
    """Return the tree of a selector. Raises SelectorError for a syntax error or a limit."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise refuse(text, error.start, "not valid Unicode") from None
    if size > MAX_BYTES:
        raise refuse(text, 0, f"limit: {size} bytes are more than {MAX_BYTES}")
    split = tokens.split(text)
    if not split:
        raise refuse(text, 0, "empty selector")
    grammar = _grammar()
    from lark.exceptions import UnexpectedToken  # noqa: PLC0415 (loaded with the first selector)

    try:
        # Our lexer takes tokens, where lark's signature says text.
        return grammar.parse(split)  # type: ignore[return-value]
    except UnexpectedToken as error:
        found = error.token.value
        if isinstance(found, Token):
            raise refuse(text, found.offset, f"unexpected {found.written[:64]!r}") from None
        raise refuse(text, len(text), "unexpected end") from None
    except TreeError as error:
        raise refuse(text, error.offset, error.why) from None


def _grammar() -> "Lark":
    """Return the parser, built once (0.1 s). Parsing itself keeps no state in it."""
    with _lock:
        if not _loaded:
            _loaded.append(_load())
        return _loaded[0]


def _load() -> "Lark":
    from lark import Lark  # noqa: PLC0415 (6 MiB that an idle process does not need)
    from lark import Token as Terminal  # noqa: PLC0415
    from lark.lexer import Lexer  # noqa: PLC0415

    package = find_spec("celpy")
    if package is None or not package.submodule_search_locations:
        raise ModuleNotFoundError("cel-python is not installed")
    names: dict[str, str] = {}

    class Split(Lexer):
        """Passes the tokens of `tokens.split` to the parser, under the names of the grammar."""

        def __init__(self, _configuration: object) -> None: ...

        def lex(self, split: Any) -> Iterator[Terminal]:  # type: ignore[override]
            for token in split:
                terminal = Terminal(names.get(token.kind, token.kind), token.written)
                terminal.value = token
                yield terminal

    grammar = (Path(package.submodule_search_locations[0]) / "cel.lark").read_text()
    parser = Lark(
        grammar,
        parser="lalr",
        start="expr",
        lexer=Split,
        transformer=TreeBuilder(),
        keep_all_tokens=True,
        maybe_placeholders=False,
    )
    names.update({terminal.pattern.value: terminal.name for terminal in parser.terminals})
    return parser

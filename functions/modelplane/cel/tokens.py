"""The tokens of a selector, split exactly as CEL's grammar splits them.

cel-python's own token rules differ from CEL's: a raw string may end elsewhere, an unfinished escape is accepted, a sign
belongs to a number. A text that is split differently has another meaning, so this module splits it, and only the
grammar of the tokens is cel-python's (see `parser`).
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from modelplane.cel import literals
from modelplane.cel.source import MAX_TOKENS, refuse

_ESCAPED = r"""\\(?:[abfnrtv"'\\?`]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})"""
_STRING = (
    rf'"""(?:{_ESCAPED}|[^\\])*?"""'
    rf"|'''(?:{_ESCAPED}|[^\\])*?'''"
    r'|[rR]"""(?s:.)*?"""'
    r"|[rR]'''(?s:.)*?'''"
    rf'|"(?:{_ESCAPED}|[^\\"\n\r])*"'
    rf"|'(?:{_ESCAPED}|[^\\'\n\r])*'"
    r'|[rR]"[^"\n\r]*"'
    r"|[rR]'[^'\n\r]*'"
)
_TOKEN = re.compile(
    r"(?P<SPACE>[\t\n\f\r ]+|//[^\n]*)"
    rf"|(?P<BYTES>[bB](?:{_STRING}))"
    rf"|(?P<STRING>{_STRING})"
    r"|(?P<FLOAT>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<UINT>(?:0x[0-9a-fA-F]+|[0-9]+)[uU])"
    r"|(?P<INT>0x[0-9a-fA-F]+|[0-9]+)"
    r"|(?P<IDENT>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<SIGN>==|!=|<=|>=|&&|\|\||[][(){}.,?:+*/%<>!-])",
)
_CONSTANTS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_READ: dict[str, Callable[[str], object]] = {
    "BYTES_LIT": literals.bytes_of,
    "STRING_LIT": literals.text_of,
    "FLOAT_LIT": literals.double_of,
    "UINT_LIT": literals.uint_of,
    "INT_LIT": literals.int_of,
}
_CONSTANT_KINDS = frozenset(kind.removesuffix("_LIT") for kind in _READ)
_OPERAND_END = frozenset({*_READ, "BOOL_LIT", "NULL_LIT", "IDENT", ")", "]", "}"})


@dataclass(slots=True)
class Token:
    """A token: `kind` is a terminal of the grammar or the sign itself, `value` what a literal means.

    `optional` marks a name after `.?` and a bracket `[?`.
    """

    kind: str
    written: str
    offset: int
    value: object = None
    optional: bool = False


def split(text: str) -> list[Token]:
    """Return the tokens of a selector. Raises SelectorError where CEL's lexer would, and over MAX_TOKENS."""
    splitter = _Splitter(text)
    for token in _scan(text):
        splitter.add(token)
    for token in splitter.tokens:
        if token.kind in _READ:
            token.value = _value(text, token)
    return splitter.tokens


class _Splitter:
    """Collects tokens, and handles what the grammar of cel-python does not know."""

    def __init__(self, text: str) -> None:
        self.tokens: list[Token] = []
        self._text = text
        self._literals: list[bool] = []

    def add(self, token: Token) -> None:
        """Add a token to those before it."""
        if token.kind in {"[", "{", "("}:
            # After an operand a bracket is an index; otherwise it opens a list or map literal.
            self._literals.append(token.kind == "{" or (token.kind == "[" and not self._after_operand()))
        elif token.kind in {"]", "}", ")"}:
            self._close()
        self._check_signs(token)
        if not self._marks(token):
            self._join_minus(token)
            self.tokens.append(token)
        if len(self.tokens) > MAX_TOKENS:
            raise refuse(self._text, token.offset, f"limit: more than {MAX_TOKENS} tokens")

    def _close(self) -> None:
        """Drop the one comma that a list or map literal may end with (even `[,]`); a call or an index may not."""
        literal = self._literals.pop() if self._literals else False
        if literal and self._last(",") is not None:
            self.tokens.pop()

    def _marks(self, token: Token) -> bool:
        """Mark `.?` and `[?` on the token before the question mark, and on the name after it."""
        if token.kind == "IDENT":
            dot = self._last(".")
            token.optional = dot is not None and dot.optional
        previous = self._last(".", "[", "{", ",") if token.kind == "?" else None
        if previous is None or previous.optional:
            return False
        if previous.kind in {"{", ","} or (previous.kind == "[" and self._literals[-1]):
            raise refuse(self._text, token.offset, "optional elements are not supported")
        previous.optional = True
        return True

    def _check_signs(self, token: Token) -> None:
        """Refuse `!-x` and `-!x`, which the grammar of cel-python takes."""
        previous = self._last("!", "-")
        if previous is not None and token.kind in {"!", "-"} and token.kind != previous.kind:
            raise refuse(self._text, token.offset, f"unexpected {token.written!r} after {previous.written!r}")

    def _join_minus(self, token: Token) -> None:
        """Join a minus to the number after it: the lowest int64 is a number only with its sign."""
        previous = self._last("-")
        if previous is None or token.kind not in {"INT_LIT", "FLOAT_LIT"}:
            return
        before = self.tokens[-2].kind if len(self.tokens) > 1 else ""
        # After an operand the minus is the operator; so is the last of several, as in CEL.
        if before not in _OPERAND_END and before != "-":
            token.written = f"-{token.written}"
            token.offset = self.tokens.pop().offset

    def _last(self, *kinds: str) -> Token | None:
        return self.tokens[-1] if self.tokens and self.tokens[-1].kind in kinds else None

    def _after_operand(self) -> bool:
        return bool(self.tokens) and self.tokens[-1].kind in _OPERAND_END


def _scan(text: str) -> Iterator[Token]:
    position = 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            raise refuse(text, position, f"unexpected {text[position]!r}")
        kind, written = str(found.lastgroup), found.group()
        if kind in _CONSTANT_KINDS:
            yield Token(f"{kind}_LIT", written, position)
        elif kind == "IDENT" and written in _CONSTANTS:
            constant = _CONSTANTS[written]
            yield Token("NULL_LIT" if constant is None else "BOOL_LIT", written, position, constant)
        elif kind != "SPACE":
            yield Token("in" if written == "in" else written if kind == "SIGN" else kind, written, position)
        position = found.end()


def _value(text: str, token: Token) -> object:
    try:
        return _READ[token.kind](token.written)
    except literals.LiteralError as error:
        raise refuse(text, token.offset, str(error)) from None

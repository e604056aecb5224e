"""The tokens of a selector, split exactly as CEL's grammar splits them.

cel-python's own token rules differ from CEL's where it matters: a raw string may end elsewhere, an unfinished escape
is accepted, a sign belongs to a number. A text that splits differently means something else, so the splitting is ours
and only the grammar above it is cel-python's (see `parser`).
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
    tokens: list[Token] = []
    brackets: list[bool] = []
    for token in _scan(text):
        previous = tokens[-1] if tokens else None
        after_operand = previous is not None and previous.kind in _OPERAND_END
        if token.kind in {"[", "{", "("}:
            brackets.append(token.kind != "(" and not (token.kind == "[" and after_operand))
        elif token.kind in {"]", "}", ")"}:
            literal = brackets.pop() if brackets else False
            if literal and previous is not None and previous.kind == ",":
                tokens.pop()  # a list or map literal may end in one comma, even `[,]`; a call or an index may not
        elif token.kind == "?" and previous is not None and previous.kind in {".", "[", "{", ","}:
            if previous.kind in {"{", ","} or (previous.kind == "[" and brackets[-1]):
                raise refuse(text, token.offset, "optional elements are not supported")
            previous.optional = True
            continue
        elif token.kind == "IDENT" and previous is not None and previous.kind == "." and previous.optional:
            token.optional = True
        if not _folds(text, tokens, token, after_operand=after_operand):
            tokens.append(token)
        if len(tokens) > MAX_TOKENS:
            raise refuse(text, token.offset, f"limit: more than {MAX_TOKENS} tokens")
        if token.kind in _READ:
            token.value = _value(text, token)
    return tokens


def _folds(text: str, tokens: list[Token], token: Token, *, after_operand: bool) -> bool:
    """Join signs: two equal ones in a row cancel out (so CEL parses them), a minus before a number is the number's.

    Returns whether the token has been taken care of.
    """
    previous = tokens[-1] if tokens else None
    if previous is None or previous.kind not in {"!", "-"}:
        return False
    if token.kind in {"!", "-"} and token.kind != previous.kind:
        raise refuse(text, token.offset, f"unexpected {token.written!r} after {previous.written!r}")
    before = tokens[-2] if len(tokens) > 1 else None
    unary = previous.kind == "!" or before is None or before.kind not in _OPERAND_END
    if token.kind == previous.kind and unary and not after_operand:
        tokens.pop()
        return True
    # The minus that is left of three is an operator, not the number's: it matters for the lowest int64 alone.
    alone = not text[: previous.offset].rstrip().endswith("-")
    if unary and previous.kind == "-" and token.kind in {"INT_LIT", "FLOAT_LIT"} and alone:
        token.written = "-" + token.written
        token.offset = previous.offset
        tokens[-1] = token
        return True
    return False


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

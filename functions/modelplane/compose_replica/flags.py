"""Reads flags of an engine that somebody else wrote, from its arguments or a command string of a shell.

Nothing is run or expanded: a value that a shell would fill in is read as it is written.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

_SHELLS = frozenset({"sh", "ash", "bash", "dash", "zsh"})
#: The option of a shell that takes a command string, alone or at the end of others, as in `-lc`.
_COMMAND_STRING = re.compile(r"-[A-Za-z]*c")
_SEPARATORS = ";&|\n"
#: What is quoted, which stays, or a comment: it begins where a word could.
_QUOTED_OR_COMMENT = re.compile(r"""('[^']*'|"(?:[^"\\]|\\.)*"|\\.)|(?<![^\s;&|()])#[^\n]*""", re.DOTALL)
#: What stands before a command's own name.
_PREFIX = re.compile(r"[A-Za-z_][A-Za-z_0-9]*=.*|exec|nohup|time", re.DOTALL)


def _called(word: str) -> str:
    return PurePosixPath(word).name


def _split(script: str) -> Iterator[list[str]]:
    """Yield the simple commands of a script as their words; of one that no shell would take, what spaces part."""
    script = _QUOTED_OR_COMMENT.sub(lambda found: found[1] or "", script).replace("\\\n", "")
    lexer = shlex.shlex(script, posix=True, punctuation_chars=_SEPARATORS)
    # Its own comments begin in the middle of words and swallow the end of the line.
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    try:
        tokens = list(lexer)
    except ValueError:
        tokens = script.split()
    words: list[str] = []
    for token in tokens:
        if token and set(token) <= set(_SEPARATORS):
            yield words
            words = []
        else:
            words.append(token)
    yield words


def _commands(words: Sequence[str]) -> Iterator[list[str]]:
    """Yield the simple commands that a list of words runs: itself, and those of a command string in it."""
    shell = next((index for index, word in enumerate(words) if _called(word) in _SHELLS), len(words))
    option = next((at for at in range(shell + 1, len(words)) if _COMMAND_STRING.fullmatch(words[at])), len(words))
    yield [word for index, word in enumerate(words) if index != option + 1]
    if option + 1 < len(words):
        for command in _split(words[option + 1]):
            yield from _commands(command)


def _run(container: Mapping[str, Any]) -> Iterator[list[str]]:
    """Yield the simple commands of a container. A single argument with spaces is for a shell that the image starts."""
    command, args = list(container.get("command") or ()), list(container.get("args") or ())
    if not command and len(args) == 1 and len(args[0].split()) > 1:
        command = ["sh", "-c"]
    yield from _commands([*command, *args])


def _is_rays(command: Sequence[str]) -> bool:
    """Tell whether a command is Ray's, which gathers a gang's nodes before its engine starts and has a port too."""
    return _called(next((word for word in command if not _PREFIX.fullmatch(word)), "")) == "ray"


def number_in(text: str, *, most: int) -> int | None:
    """Return the whole number of 1 to `most` that a text is, None when it is none."""
    digits = text.isascii() and text.isdigit() and len(text) <= len(str(most))
    return int(text) if digits and 1 <= int(text) <= most else None


def read_flag(container: Mapping[str, Any], *names: str) -> str | None:
    """Return the value of the last of the flags `names` that an engine is given, None when it is given none.

    "" is a flag without a value. Engines take `--a-b` and `--a_b`, and a value behind `=` or as the next word.
    """
    value = None
    for command in _run(container):
        if _is_rays(command):
            continue
        for word, following in zip(command, [*command[1:], ""], strict=False):
            name, equals, behind = word.partition("=")
            if name.replace("_", "-") in names:
                value = behind if equals else following
    # The parenthesis that ends a subshell is no part of its last word.
    return value if value is None or "(" in value else value.rstrip(")")

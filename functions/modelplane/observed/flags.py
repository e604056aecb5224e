"""Reads the flags of a user's engine from its arguments or a shell's command string.

Nothing is run or expanded: a shell variable is read as text. The time is linear in the length that is read, at most
`READ_LIMIT` characters and `WORD_LIMIT` words.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import accumulate, islice, pairwise, takewhile
from typing import Any, Final

from modelplane.catalogue.flags import find_mentions
from modelplane.lru import Lru

#: Most characters of a container's command and args that are read; a word beyond that ends the reading.
READ_LIMIT: Final = 65536
#: Most words that are read of them, and of a script in them.
WORD_LIMIT: Final = 8192

#: Cache of the simple commands of containers, by command and args, of about this many bytes.
_READ: Final = Lru[tuple[list[str], ...]](8 * 1024 * 1024)
#: Bytes of an entry, and of a word beside its characters.
_ENTRY_BYTES, _WORD_BYTES = 1024, 64

_SHELLS = frozenset({"sh", "ash", "bash", "dash", "zsh"})
#: The option of a shell that takes a command string, alone or at the end of others, as in `-lc`.
_COMMAND_STRING = re.compile(r"-[A-Za-z]*c")
#: A part of a word (in single quotes, in double quotes, escaped, plain), separators, or white space.
#: `shlex` splits alike, in quadratic time for long words.
_TOKEN = re.compile(
    r"""'([^']*)'|"([^"\\]*(?:\\.[^"\\]*)*)"|\\(.)|([^\s'"\\;&|]+|[^\S \t\r\n]+)|([;&|\n]+)|([ \t\r]+)""",
    re.DOTALL,
)
_DOUBLE_QUOTED, _SEPARATOR, _SPACE = 2, 5, 6
_ESCAPED = re.compile(r'\\(["\\])')
#: A quoted part, which stays, or a comment, which begins where a word could.
_QUOTED_OR_COMMENT = re.compile(r"""('[^']*'|"(?:[^"\\]|\\.)*"|\\.)|(?<![^\s;&|()])#[^\n]*""", re.DOTALL)
#: Words before a command's own name.
_PREFIX = re.compile(r"[A-Za-z_][A-Za-z_0-9]*=.*|exec|nohup|time|env|export|then|else|do", re.DOTALL)


def _called(word: str) -> str:
    return word.rstrip("/").rpartition("/")[2]


def tokens(script: str) -> Iterator[str | None]:
    """Yield the words of a script, unquoted, and None at each separator. Raises ValueError for an unclosed quote."""
    word: list[str] | None = None
    at = 0
    for found in _TOKEN.finditer(script):
        if found.start() != at:
            break
        kind, at = found.lastindex or 0, found.end()
        if kind not in (_SEPARATOR, _SPACE):
            part = _ESCAPED.sub(r"\1", found[kind]) if kind == _DOUBLE_QUOTED else found[kind]
            word = word or []
            word.append(part)
            continue
        if word is not None:
            yield "".join(word)
        word = None
        if kind == _SEPARATOR:
            yield None
    if at != len(script):
        raise ValueError(f"a quote or a backslash without its end, at {at}")
    if word is not None:
        yield "".join(word)


def _split(script: str) -> Iterator[list[str]]:
    """Yield the simple commands of a script as lists of words; an invalid script is split at spaces."""
    script = _QUOTED_OR_COMMENT.sub(lambda found: found[1] or "", script).replace("\\\n", "")
    try:
        found = list(islice(tokens(script), WORD_LIMIT))
    except ValueError:
        found = [*script.split()[:WORD_LIMIT]]
    words: list[str] = []
    for token in found:
        if token is None:
            yield words
            words = []
        else:
            words.append(token)
    yield words


def _commands(words: Sequence[str]) -> Iterator[list[str]]:
    """Yield the simple commands of a list of words: itself, and those of a command string in it."""
    shell = next((index for index, word in enumerate(words) if _called(word) in _SHELLS), len(words))
    option = next((at for at in range(shell + 1, len(words)) if _COMMAND_STRING.fullmatch(words[at])), len(words))
    yield [word for index, word in enumerate(words) if index != option + 1]
    if option + 1 < len(words):
        for command in _split(words[option + 1]):
            yield from _commands(command)


def _within_limit(words: Sequence[str]) -> list[str]:
    """Return the first words, up to the limits."""
    sizes = accumulate(len(word) for word in words)
    return [word for word, size in zip(words, sizes, strict=True) if size <= READ_LIMIT][:WORD_LIMIT]


def _read(command: Sequence[str], args: Sequence[str]) -> tuple[tuple[list[str], ...], int]:
    """Return the simple commands of a container, and about how many bytes they take."""
    # A single argument with spaces is meant for a shell that the image starts.
    shell = not command and len(args) == 1 and len(args[0].split(maxsplit=1)) > 1
    found = tuple(_commands(_within_limit([*(("sh", "-c") if shell else command), *args])))
    given = sum(len(word) for word in (*command, *args))
    return found, _ENTRY_BYTES + given + sum(_WORD_BYTES + len(word) for words in found for word in words)


def _run(container: Mapping[str, Any]) -> tuple[list[str], ...]:
    """Return the simple commands of a container, cached."""
    command, args = tuple(container.get("command") or ()), tuple(container.get("args") or ())
    return _READ.get((command, args), lambda: _read(command, args))


def _programs(command: Sequence[str]) -> set[str]:
    """Return the programs that a simple command names."""
    first = next((word for word in command if not _PREFIX.fullmatch(word)), None)
    found = set() if first is None else {_called(first)}
    if "-m" in command:
        found |= {following for word, following in pairwise(command) if word == "-m"}
    return found


def programs(container: Mapping[str, Any]) -> frozenset[str]:
    """Return the programs that a container's command names: commands, and Python modules after `-m`."""
    return frozenset().union(*map(_programs, _run(container)))


def assigned(container: Mapping[str, Any], variable: str, program: Collection[str]) -> str | None:
    """Return what a container's command sets a variable to for the first of some programs, None if it does not.

    An assignment before a command holds for that command, and one by itself or in `export` for those after it.
    """
    exported = None
    for command in _run(container):
        before = list(takewhile(_PREFIX.fullmatch, command))
        values = [
            value for name, equals, value in (word.partition("=") for word in before) if name == variable and equals
        ]
        value = values[-1] if values else exported
        if not _programs(command).isdisjoint(program):
            return value
        exported = value if before == command else exported
    return exported


def following(container: Mapping[str, Any], program: str, verb: str) -> str | None:
    """Return the argument that follows the verb of a program in a container's command, None without one."""
    for command in _run(container):
        words = [_called(word) for word in command]
        if program in words and verb in words:
            value = next(iter(command[words.index(verb) + 1 :]), "-")
            return None if value.startswith("-") else value
    return None


def _is_rays(command: Sequence[str]) -> bool:
    """Tell whether a command is Ray's, which joins a gang's nodes before the engine starts and has its own port."""
    return _called(next((word for word in command if not _PREFIX.fullmatch(word)), "")) == "ray"


def number_in(text: str, *, most: int) -> int | None:
    """Return the integer of a text if it is from 1 to `most`, else None."""
    digits = text.isascii() and text.isdigit() and len(text) <= len(str(most))
    return int(text) if digits and 1 <= int(text) <= most else None


def read_flag(container: Mapping[str, Any], *names: str, of: Collection[str] = ()) -> str | None:
    """Return the value of the last of the flags `names` in a container's command, None without any.

    "" is a flag without a value. Where a command starts one of the programs `of`, flags of others in its script do not
    count, but those behind the script do, which are its arguments.
    """
    commands = [command for command in _run(container) if not _is_rays(command)]
    if any(not _programs(command).isdisjoint(of) for command in commands):
        commands = [command for command in commands if not _programs(command).isdisjoint({*of, *_SHELLS})]
    value = None
    for command in commands:
        for at, _, behind in find_mentions(command, names):
            value = next(iter(command[at + 1 : at + 2]), "") if behind is None else behind
    # The closing parenthesis of a subshell is not part of the last word.
    return value if value is None or "(" in value else value.rstrip(")")


def is_configured(container: Mapping[str, Any]) -> bool:
    """Tell whether a file, which is not read, configures an engine."""
    return read_flag(container, "--config") is not None

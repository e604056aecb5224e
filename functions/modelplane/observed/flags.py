"""Reads the flags of a user's engine from its arguments or a shell's command string.

Nothing is run or expanded: a shell variable is read as text. The time is linear in the length that is read, at most
`READ_LIMIT` characters and `WORD_LIMIT` words.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence, Set, Sized
from dataclasses import dataclass, field
from itertools import accumulate, islice, pairwise, takewhile
from typing import Any, Final, NamedTuple

from modelplane.lru import Lru

#: Most characters of a container's command and args that are read; a word beyond that ends the reading.
READ_LIMIT: Final = 65536
#: Most words that are read of them, and of a script in them.
WORD_LIMIT: Final = 8192

#: Bytes of an entry, of a word in one of its tables, and of what a table has for it.
_ENTRY_BYTES, _KEY_BYTES, _ITEM_BYTES = 1024, 350, 120

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


class _Mention(NamedTuple):
    """A flag in a command: the number of the command, its place there, and its value, "" for none."""

    command: int
    at: int
    value: str


class _Setting(NamedTuple):
    """What a command sets a variable to; `exported` if that holds for the commands after it, not for itself alone."""

    command: int
    value: str
    exported: bool


@dataclass(slots=True)
class _Reading:
    """What the simple commands of a container say: all words are looked at once, and each question is a look-up.

    Commands have numbers, in order. `starts` has those that start a program: by name, or as a Python module after `-m`.
    `behind` has, by word without folders, each command with the word and what follows the first of it there, "" for
    nothing. `flags` has no mentions in Ray's commands. All are in the order of the commands.
    """

    starts: dict[str, list[int]] = field(default_factory=dict)
    rays: set[int] = field(default_factory=set)
    behind: dict[str, dict[int, str]] = field(default_factory=dict)
    flags: dict[str, list[_Mention]] = field(default_factory=dict)
    variables: dict[str, list[_Setting]] = field(default_factory=dict)

    @property
    def weight(self) -> int:
        """Return about how many bytes the tables take, without the words themselves."""
        tables: tuple[Mapping[str, Sized], ...] = self.starts, self.behind, self.flags, self.variables
        return _ENTRY_BYTES + sum(_KEY_BYTES + _ITEM_BYTES * len(found) for table in tables for found in table.values())

    def add(self, number: int, command: Sequence[str]) -> None:
        """Look at the words of a command."""
        before = list(takewhile(_PREFIX.fullmatch, command))
        started = {_called(word) for word in command[len(before) : len(before) + 1]}
        # Ray joins a gang's nodes before the engine starts, and has its own port.
        if "ray" in started:
            self.rays.add(number)
        for at, (word, following) in enumerate(pairwise((*command, ""))):
            self.behind.setdefault(_called(word), {}).setdefault(number, following)
            if word[:1] in ("-", "_") and number not in self.rays:
                flag, equals, value = word.partition("=")
                mention = _Mention(number, at, value if equals else following)
                self.flags.setdefault(flag.replace("_", "-"), []).append(mention)
            if word == "-m" and following:
                started.add(following)
        for program in started:
            self.starts.setdefault(program, []).append(number)
        for name, equals, value in (word.partition("=") for word in before):
            if equals:
                self.variables.setdefault(name, []).append(_Setting(number, value, len(before) == len(command)))


#: Cache of what containers' commands say, by command and args, of about this many bytes: more than the largest
#: deployment takes, whose engines are asked in turn.
_READ: Final = Lru[_Reading](36 * 1024 * 1024)


def _read(command: Sequence[str], args: Sequence[str]) -> tuple[_Reading, int]:
    """Return what the command of a container says, and about how many bytes that takes."""
    # A single argument with spaces is meant for a shell that the image starts.
    shell = not command and len(args) == 1 and len(args[0].split(maxsplit=1)) > 1
    reading = _Reading()
    for number, words in enumerate(_commands(_within_limit([*(("sh", "-c") if shell else command), *args]))):
        reading.add(number, words)
    return reading, reading.weight + 2 * sum(len(word) for word in (*command, *args))


def _run(container: Mapping[str, Any]) -> _Reading:
    """Return what the command of a container says, cached."""
    command, args = tuple(container.get("command") or ()), tuple(container.get("args") or ())
    return _READ.get((command, args), lambda: _read(command, args))


def programs(container: Mapping[str, Any]) -> Set[str]:
    """Return the programs that a container's command names: commands, and Python modules after `-m`."""
    return _run(container).starts.keys()


def assigned(container: Mapping[str, Any], variable: str, program: Collection[str]) -> str | None:
    """Return what a container's command sets a variable to for the first of some programs, None if it does not.

    An assignment before a command holds for that command, and one by itself or in `export` for those after it.
    """
    reading = _run(container)
    starts = [reading.starts[name][0] for name in program if name in reading.starts]
    at = min(starts) if starts else None
    settings = reversed(reading.variables.get(variable, ()))
    return next((each.value for each in settings if _holds(each, at)), None)


def _holds(setting: _Setting, at: int | None) -> bool:
    """Tell whether a setting holds for a command, for what follows all commands if `at` is None."""
    if at is None or setting.command < at:
        return setting.exported
    return setting.command == at


def following(container: Mapping[str, Any], program: str, verb: str) -> str | None:
    """Return the argument that follows the verb of a program in a container's command, None without one."""
    behind = _run(container).behind
    programs_ = behind.get(program, {})
    value = next((value for number, value in behind.get(verb, {}).items() if number in programs_), "")
    return None if not value or value.startswith("-") else value


def number_in(text: str, *, most: int) -> int | None:
    """Return the integer of a text if it is from 1 to `most`, else None."""
    digits = text.isascii() and text.isdigit() and len(text) <= len(str(most))
    return int(text) if digits and 1 <= int(text) <= most else None


def read_flag(container: Mapping[str, Any], *names: str, of: Collection[str] = ()) -> str | None:
    """Return the value of the last of the flags `names` in a container's command, None without any.

    "" is a flag without a value. Where a command starts one of the programs `of`, flags of others in its script do not
    count, but those behind the script do, which are its arguments.
    """
    reading = _run(container)
    counting: set[int] | None = None
    if any(set(reading.starts.get(program, ())) - reading.rays for program in of):
        counting = {number for program in {*of, *_SHELLS} for number in reading.starts.get(program, ())}
    last = [each for name in names if (each := _last(reading.flags.get(name, ()), counting))]
    value = max(last).value if last else None
    # The closing parenthesis of a subshell is not part of the last word.
    return value if value is None or "(" in value else value.rstrip(")")


def _last(mentions: Sequence[_Mention], counting: Collection[int] | None) -> _Mention | None:
    """Return the last mention in the commands that count, all if None."""
    return next((each for each in reversed(mentions) if counting is None or each.command in counting), None)


def is_configured(container: Mapping[str, Any]) -> bool:
    """Tell whether a file, which is not read, configures an engine."""
    return read_flag(container, "--config") is not None

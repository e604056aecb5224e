"""A flag is found wherever an engine's flags are, and what is not the engine's own flag is not taken for it."""

import shlex
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelplane.observed import flags
from modelplane.observed.flags import assigned, following, number_in, programs, read_flag, tokens


def shell(script: str, *more: str) -> dict[str, Any]:
    return {"command": ["/bin/sh", "-c"], "args": [script, *more]}


TABLE: dict[str, tuple[dict[str, Any], str | None]] = {
    "nothing is given": ({}, None),
    "no such flag": ({"args": ["--model=m", "--portal=1", "port=2"]}, None),
    "behind an equals sign": ({"args": ["--model=m", "--port=8200"]}, "8200"),
    "as the next word": ({"args": ["--port", "8200", "--model=m"]}, "8200"),
    "in the command": ({"command": ["vllm", "serve", "--port", "8200"]}, "8200"),
    "command and args together": ({"command": ["vllm", "serve", "--port"], "args": ["8200"]}, "8200"),
    "the last one counts": ({"args": ["--port=1", "--port=8200"]}, "8200"),
    "without a value": ({"args": ["--port"]}, ""),
    "with an empty value": ({"args": ["--port="]}, ""),
    "a value that is no number": ({"args": ["--port=$(PORT)"]}, "$(PORT)"),
    "a command string": (shell("exec vllm serve m --port 8200"), "8200"),
    "a command string of a login shell": (
        {"command": ["/usr/bin/env", "bash", "-o", "pipefail", "-lc", "vllm serve m --port=8200"]},
        "8200",
    ),
    "a command string for the image's shell": ({"args": ["vllm serve m --port 8200"]}, "8200"),
    "a command string in a command string": (shell("exec bash -c 'vllm serve m --port 8200'"), "8200"),
    "over several lines": (shell("export A=1\nvllm serve m \\\n  --port 8200 \\\n  --seed 1\n"), "8200"),
    "quoted": (shell("vllm serve m '--port' \"8200\""), "8200"),
    "into a pipe": (shell("vllm serve m --port 8200 2>&1 | tee /tmp/log"), "8200"),
    "in a subshell": (shell("(sleep 1; vllm serve m --port 8200)"), "8200"),
    "as an argument of the script": (shell('vllm serve m "$@"', "sh", "--port", "8200"), "8200"),
    "a variable of the shell": (shell("vllm serve m --port $PORT"), "$PORT"),
    "at the end of a command": (shell("vllm serve m --port; echo 8200"), ""),
    "Ray's before the engine's": (shell("ray start --head --port=6379 && vllm serve m --port 8200"), "8200"),
    "Ray's alone": (shell("ray start --head --port=6379; vllm serve m"), None),
    "Ray's with a path and a variable": (shell("A=1 exec /opt/bin/ray start --port 6379\nvllm serve m"), None),
    "Ray's in the background": (shell("ray start --head --port 6379 & vllm serve m --port 8200"), "8200"),
    "inside of another value": ({"args": ['--config={"a": "--port 9"}']}, None),
    "quotes that do not close": (shell("vllm serve 'm --port 8200"), "8200"),
    "in a comment": (shell("# --port 1\nvllm serve m --port 8200 # not --port 9\n\t#--port 7"), "8200"),
    "behind a mark that begins no comment": (shell("vllm serve m#1 '# x' \"# y\" \\# --port 8200"), "8200"),
    "on the line after a comment that ends in a backslash": (shell("# a \\\nvllm serve m --port 8200"), "8200"),
    "a comment with an apostrophe": (shell("# don't\nvllm serve m --port 8200"), "8200"),
}


@pytest.mark.parametrize(("container", "value"), TABLE.values(), ids=TABLE)
def test_a_flag_is_read_wherever_the_engines_flags_are(container: dict[str, Any], value: str | None) -> None:
    assert read_flag(container, "--port") == value


@pytest.mark.parametrize("flag", ["--block-size", "--block_size", "--page-size"])
def test_one_of_several_names_is_read_however_it_is_spelled(flag: str) -> None:
    assert read_flag({"args": [f"{flag}=32"]}, "--block-size", "--page-size") == "32"


TEXTS = st.text(alphabet=st.sampled_from("ab-=;&|\n\\'\"()$ \t#") | st.characters(), max_size=60)


@given(command=st.lists(TEXTS | st.sampled_from(["sh", "-c", "--port"]), max_size=5), args=st.lists(TEXTS, max_size=5))
def test_no_command_is_too_odd_to_be_read(command: list[str], args: list[str]) -> None:
    read_flag({"command": command, "args": args}, "--port")


def by_the_standard_library(script: str) -> list[str]:
    """Return the words and separators of a script as shlex tells them apart. Raises ValueError for an open quote."""
    lexer = shlex.shlex(script, posix=True, punctuation_chars=";&|\n")
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    return list(lexer)


def without_separators(found: Iterable[str | None]) -> list[str]:
    return [word for word in found if word is not None and (not word or set(word) - set(";&|\n"))]


@given(script=TEXTS)
def test_a_script_is_split_into_words_as_the_standard_library_splits_it(script: str) -> None:
    try:
        expected = by_the_standard_library(script)
    except ValueError:
        with pytest.raises(ValueError, match="without its end"):
            list(tokens(script))
    else:
        assert without_separators(tokens(script)) == without_separators(expected)


def test_a_flag_is_read_from_the_first_64_kib() -> None:
    early, long = "--port=8200", "x" * (1 << 20)
    assert read_flag({"args": [early, long, "--port=1"]}, "--port") == "8200"
    assert read_flag(shell(f"vllm serve m {early}"), "--port") == "8200"
    assert read_flag({"args": [long, early]}, "--port") is None
    assert read_flag(shell(f"{early} {long}"), "--port") is None


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1", 1),
        ("65535", 65535),
        ("08200", 8200),
        ("0", None),
        ("65536", None),
        ("-1", None),
        ("", None),
        (" 1", None),
        ("8200.0", None),
        ("8_200", None),
        ("\u0663", None),
        ("\u00b2", None),
        ("9" * 5000, None),
    ],
)
def test_a_number_is_decimal_digits_within_its_bounds(text: str, number: int | None) -> None:
    assert number_in(text, most=65535) == number


def test_the_words_of_a_container_are_looked_at_once_however_much_is_asked_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    container = shell(";export SEEN=1; looked --at once" * 500)
    looked: list[str] = []
    called = flags._called

    def counted(word: str) -> str:
        looked.append(word)
        return called(word)

    monkeypatch.setattr(flags, "_called", counted)
    asked: dict[str, Callable[[], object]] = {
        "programs": lambda: set(programs(container)),
        "a flag": lambda: read_flag(container, "--at"),
        "a flag of a program": lambda: read_flag(container, "--at", of=("looked",)),
        "another flag": lambda: read_flag(container, "--of", "-o"),
        "a variable": lambda: assigned(container, "SEEN", ("looked",)),
        "an argument": lambda: following(container, "looked", "--at"),
    }
    answers = {what: ask() for what, ask in asked.items()}
    assert answers == {
        "programs": {"sh", "looked"},
        "a flag": "once",
        "a flag of a program": "once",
        "another flag": None,
        "a variable": "1",
        "an argument": "once",
    }
    assert looked
    looked.clear()
    assert {what: ask() for what, ask in asked.items()} == answers
    assert looked == []


@pytest.mark.parametrize("part", ["--{} ", "A{}=1 ", "{}; ", "-m {} ", "sh -c 'a{}';"])
def test_what_the_largest_deployment_says_is_kept_until_all_its_engines_are_asked_again(part: str) -> None:
    script = "".join(part.format(number) for number in range(flags.READ_LIMIT // len(part)))[: flags.READ_LIMIT // 2]
    scripts = [shell(f"{number} {script}") for number in range(8)]
    read = [flags._run(each) for each in scripts]
    assert all(flags._run(each) is before for each, before in zip(scripts, read, strict=True))

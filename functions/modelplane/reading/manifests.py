"""Reads manifests from files with several documents, folders, kubectl exports or standard input, with line numbers.

Exception
└── InvalidInput   what cannot be read: where it stands, and why
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, TextIO

import yaml

SUFFIXES = frozenset({".json", ".yaml", ".yml"})
STDIN = "-"
#: A JSON text of objects begins with one of these; so may a YAML text.
_JSON_BEGINS = frozenset({"{", "["})
_STDIN_NAME = "<stdin>"
#: Most characters that the aliases of a document may add: an API server accepts no larger request.
_MOST_BY_ALIASES = 3 * 1024 * 1024

_C_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_C_LOADER):  # type: ignore[misc] # the base is chosen by what PyYAML was built with
    """YAML as Kubernetes reads it: dates are texts."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


class InvalidInput(Exception):  # noqa: N818 - it is reported under this name
    """Input that cannot be previewed: `file`, 1-based `line` (None where unknown), `field` (may be empty) and `why`."""

    def __init__(self, file: str, line: int | None, field: str, why: str) -> None:
        self.file, self.line, self.field, self.why = file, line, field, why
        place = file if line is None else f"{file}:{line}"
        super().__init__(": ".join(part for part in (place, field, why) if part))


@dataclass(frozen=True, slots=True)
class Source:
    """The source of an object: its file, and what returns its YAML node (None if lines are not known)."""

    file: str
    find_node: Callable[[], yaml.Node | None]

    def line(self, field: str) -> int | None:
        """Return the 1-based line of a field (`spec.engines[0].name`), or of the nearest field that contains it."""
        node = self.find_node()
        if node is None:
            return None
        line = node.start_mark.line
        for part in _parts(field):
            found = _step(node, part)
            if found is None:
                break
            line, node = found
        return line + 1


@dataclass(frozen=True, slots=True)
class LocatedObject:
    """One object of the input, and its source."""

    obj: Any
    source: Source


def read_manifests(paths: Iterable[str], stdin: TextIO) -> Iterator[LocatedObject]:
    """Yield the objects under paths in order: files, manifests in folders by name at any depth, `-` for `stdin`.

    Lists, as kubectl exports them, are taken apart; empty documents are passed over. Valid JSON is read as JSON, which
    is faster and differs from YAML 1.1 in numbers (1e3). Raises InvalidInput, also for standard input
    without a word: the command that should have written it failed, and kubectl exports at least a List.
    """
    for path in paths:
        if path == STDIN:
            text = stdin.read()
            if not text.strip():
                raise InvalidInput(_STDIN_NAME, None, "", "is empty; see whether the command before the pipe failed")
            yield from _documents(_STDIN_NAME, text)
            continue
        for file in _files(Path(path)):
            yield from _documents(str(file), _text(file))


def _files(path: Path) -> list[Path]:
    if not path.exists():
        raise InvalidInput(str(path), None, "", "no such file or folder")
    if not path.is_dir():
        return [path]
    # A link that leads nowhere is kept, so that reading it says so.
    found = sorted(
        file for file in path.rglob("*") if file.suffix in SUFFIXES and (file.is_file() or not file.exists())
    )
    if not found:
        raise InvalidInput(str(path), None, "", "the folder holds no .yaml, .yml or .json file")
    return found


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(str(file), None, "", f"cannot be read: {error}") from error


def _documents(file: str, text: str) -> Iterator[LocatedObject]:
    if text.lstrip()[:1] in _JSON_BEGINS:
        try:
            document = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            pass  # YAML in braces, several documents, or a fault, which is found again below with its line
        else:
            yield from _objects(document, Source(file, cache(partial(_compose, text))))
            return
    loader = _Loader(text)
    try:
        while loader.check_node():
            node = loader.get_node()
            _refuse_repeated_keys(file, node)
            _refuse_many_copies(file, node)
            yield from _objects(_plain(loader.construct_document(node)), Source(file, partial(_identity, node)))
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        why = getattr(error, "problem", None) or str(error)
        raise InvalidInput(file, mark.line + 1 if mark else None, "", f"invalid YAML: {why}") from error
    except RecursionError as error:
        raise InvalidInput(file, None, "", "nested too deeply") from error
    finally:
        loader.dispose()


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; refuse a key that it has twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(found)
    return found


def _refuse_constant(constant: str) -> Any:
    """Refuse NaN and Infinity, which Python's JSON has and JSON does not."""
    raise ValueError(constant)


def _compose(text: str) -> yaml.Node | None:
    """Return the YAML node of a JSON text, None where YAML does not allow it: JSON may contain tabs."""
    loader = _Loader(text)
    try:
        node: yaml.Node | None = loader.get_single_node()
    except (yaml.YAMLError, RecursionError):
        return None
    finally:
        loader.dispose()
    return node


def _identity(node: yaml.Node) -> yaml.Node:
    return node


def _refuse_repeated_keys(file: str, document: yaml.Node) -> None:
    """Raise InvalidInput if a mapping has a key twice (YAML 1.2, 3.2.1.3); PyYAML would take the last one."""
    todo, done = [document], set[int]()
    while todo:
        node = todo.pop()
        if id(node) in done or not isinstance(node, yaml.CollectionNode):
            continue
        done.add(id(node))
        if not isinstance(node, yaml.MappingNode):
            todo.extend(node.value)
            continue
        lines: dict[str, int] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if isinstance(key, yaml.ScalarNode):
                if key.value in lines:
                    raise InvalidInput(file, line, key.value, f"duplicate key, first on line {lines[key.value]}")
                lines[key.value] = line
            todo.append(value)


def _refuse_many_copies(file: str, document: yaml.Node) -> None:
    """Raise InvalidInput if aliases expand to much more than is written, or an alias is recursive.

    Ten short lines can expand to a billion values. Nodes are counted, each once, before any alias is expanded.
    """
    todo, opened, sizes, written = [document], set[int](), dict[int, int](), 0
    while todo:
        node = todo[-1]
        inner, line = _inner(node), node.start_mark.line + 1
        if id(node) not in opened:
            opened.add(id(node))
            if any(id(each) in opened and id(each) not in sizes for each in inner):
                raise InvalidInput(file, line, "", "an alias (*) stands inside what it refers to; write out a copy")
            todo += inner
            continue
        todo.pop()
        if id(node) in sizes:
            continue
        own = 1 + (len(node.value) if isinstance(node, yaml.ScalarNode) else 0)
        written += own
        size = sizes[id(node)] = own + sum(sizes[id(each)] for each in inner)
        if size - written > _MOST_BY_ALIASES:
            why = f"aliases (*) make this {size} characters long; they may add {_MOST_BY_ALIASES} to what is written"
            raise InvalidInput(file, line, "", f"{why}; use fewer aliases")


def _inner(node: yaml.Node) -> list[yaml.Node]:
    """Return the child nodes of a node."""
    if isinstance(node, yaml.MappingNode):
        return [each for pair in node.value for each in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _plain(value: Any) -> Any:
    """Return a YAML value as JSON: keys are texts, and nothing is shared."""
    if isinstance(value, dict):
        return {_key(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


def _key(key: Any) -> str:
    return key if isinstance(key, str) else json.dumps(key)


def _objects(document: Any, source: Source) -> Iterator[LocatedObject]:
    if document is None:
        return
    if isinstance(document, dict) and str(document.get("kind", "")).endswith("List") and "items" in document:
        listed = document["items"] or []
        if not isinstance(listed, list):
            raise InvalidInput(source.file, source.line("items"), "items", "must be a list")
        for position, item in enumerate(listed):
            yield from _objects(item, Source(source.file, partial(_find_item, source, position)))
        return
    if not isinstance(document, dict):
        why = f"must be an object (a mapping), not {type(document).__name__}"
        raise InvalidInput(source.file, source.line(""), "", why)
    yield LocatedObject(document, source)


def _find_item(listing: Source, position: int) -> yaml.Node | None:
    """Return the node of an item of a list that kubectl has exported."""
    node = listing.find_node()
    items = _step(node, "items") if node else None
    item = _step(items[1], position) if items else None
    return item[1] if item else None


def _parts(field: str) -> Iterator[str | int]:
    """Yield the keys and indices of a path; keys with dots or slashes are in brackets."""
    for key, bracketed in re.findall(r"([^.\[\]]+)|\[([^\]]*)\]", field):
        yield key or (int(bracketed) if bracketed.isdigit() else bracketed)


def _step(node: yaml.Node, part: str | int) -> tuple[int, yaml.Node] | None:
    """Return the line and node of a mapping's key or a list's item."""
    if isinstance(node, yaml.MappingNode):
        return next(((key.start_mark.line, value) for key, value in node.value if key.value == str(part)), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part].start_mark.line, node.value[part]
    return None

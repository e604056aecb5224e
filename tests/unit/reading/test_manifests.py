"""Reading manifests: what is found, in which order, and on which line a field stands."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from modelplane.reading.manifests import InvalidInput, LocatedObject, read_manifests

TWO = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
---
# nothing here
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: b
  labels:
    example.org/x: y
data:
  list: [1, 2]
"""


def read(*paths: Path | str, stdin: str = "") -> list[LocatedObject]:
    return list(read_manifests(map(str, paths), io.StringIO(stdin)))


def names(found: list[LocatedObject]) -> list[str]:
    return [each.obj["metadata"]["name"] for each in found]


def config(name: str) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})


def test_a_file_may_hold_several_documents(tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text(TWO)
    assert names(read(tmp_path / "two.yaml")) == ["a", "b"]


def test_a_folder_is_read_at_any_depth_by_name(tmp_path: Path) -> None:
    for path in ("b.yml", "a/z.json", "a/b/y.yaml", "notes.txt"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(config(path.replace("/", "-")))
    assert names(read(tmp_path)) == ["a-b-y.yaml", "a-z.json", "b.yml"]


def test_paths_are_read_in_the_order_in_which_they_are_given(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(config(name))
    assert names(read(tmp_path / "b", "-", tmp_path / "a", stdin=config("stdin"))) == ["b", "stdin", "a"]


@pytest.mark.parametrize("kind", ["List", "ConfigMapList"])
def test_a_list_that_kubectl_exported_is_taken_apart(kind: str) -> None:
    items = [json.loads(config("a")), {"apiVersion": "v1", "kind": "List", "items": [json.loads(config("b"))]}]
    assert names(read("-", stdin=json.dumps({"apiVersion": "v1", "kind": kind, "items": items}))) == ["a", "b"]


def test_an_empty_list_holds_nothing() -> None:
    assert read("-", stdin="{apiVersion: v1, kind: List, items: []}") == []


def test_json_with_tabs_is_read() -> None:
    assert names(read("-", stdin=json.dumps(json.loads(config("a")), indent="\t"))) == ["a"]


#: JSON that YAML 1.1 takes for something else, and its values.
JSON_VALUES: dict[str, Any] = {"1e3": 1000.0, '"\\ud83d\\ude00"': "\U0001f600", '"\\/a"': "/a", "-0.5E-1": -0.05}


@pytest.mark.parametrize(("text", "value"), JSON_VALUES.items(), ids=JSON_VALUES)
def test_json_is_read_as_json(text: str, value: object) -> None:
    assert read("-", stdin=f'{{"kind": "ConfigMap", "value": {text}}}')[0].obj["value"] == value


def test_json_may_hold_no_number_that_is_none() -> None:
    # As YAML has it: a text.
    assert read("-", stdin='{"kind": "ConfigMap", "value": NaN}')[0].obj["value"] == "NaN"


def test_a_field_of_json_is_found_on_its_line() -> None:
    items = [json.loads(config("a")), json.loads(config("b"))]
    text = json.dumps({"kind": "List", "items": items}, indent=1)
    lines = [1 + at for at, line in enumerate(text.splitlines()) if '"name"' in line]
    assert [each.source.line("metadata.name") for each in read("-", stdin=text)] == lines


def test_several_json_documents_are_read() -> None:
    assert names(read("-", stdin=f"{config('a')}\n---\n{config('b')}")) == ["a", "b"]


#: YAML, and what Kubernetes takes it for.
VALUES: dict[str, Any] = {
    "2026-01-01T00:00:00Z": "2026-01-01T00:00:00Z",
    "2026-01-01": "2026-01-01",
    '"1"': "1",
    "1": 1,
    "1.5": 1.5,
    "true": True,
    "~": None,
    "{8000: x}": {"8000": "x"},
}


@pytest.mark.parametrize(("text", "value"), VALUES.items(), ids=VALUES)
def test_values_are_those_of_json(text: str, value: object) -> None:
    assert read("-", stdin=f"kind: ConfigMap\nvalue: {text}\n")[0].obj["value"] == value


def test_an_alias_is_a_copy() -> None:
    obj = read("-", stdin="a: &x {k: v}\nb: *x\n")[0].obj
    assert obj == {"a": {"k": "v"}, "b": {"k": "v"}}
    assert obj["a"] is not obj["b"]


#: Fields of the second document of `TWO`, and their lines in the file.
LINES = {
    "": 8,
    "kind": 9,
    "metadata.name": 11,
    "metadata.labels[example.org/x]": 13,
    "data.list[1]": 15,
    "metadata.absent": 10,
    "spec.engines[0].name": 8,
}


@pytest.mark.parametrize(("field", "line"), LINES.items(), ids=LINES)
def test_a_field_is_found_on_its_line(field: str, line: int) -> None:
    assert read("-", stdin=TWO)[1].source.line(field) == line


def test_a_field_of_an_item_is_found_on_its_line() -> None:
    text = "kind: List\nitems:\n- kind: A\n- kind: B\n  metadata:\n    name: b\n"
    assert [each.source.line("metadata.name") for each in read("-", stdin=text)] == [3, 6]


def _aliases(line: str) -> str:
    """Return lines of which each stands for ten times as much as the one before."""
    lines = ["l0: &l0 {k: v}"]
    lines += [f"l{n}: &l{n} {line.format(', '.join([f'*l{n - 1}'] * 10))}" for n in range(1, 40)]
    return "\n".join(lines)


def test_aliases_that_make_no_more_than_a_request_may_hold_are_read() -> None:
    (found,) = read("-", stdin="\n".join(_aliases("[{}]").splitlines()[:5]))
    assert str(found.obj).count("'k': 'v'") == 1 + 10 + 100 + 1_000 + 10_000


#: Input that cannot be read: the line and the beginning of why.
BROKEN = {
    "no YAML": ("a: b\nc: ]\n", 2, "invalid YAML"),
    "a scalar": ("\n\njust text", 3, "must be an object (a mapping), not str"),
    "a bare list": ("- a: b", 1, "must be an object (a mapping), not list"),
    "a list of no list": ("kind: List\nitems: {a: b}", 2, "must be a list"),
    "an item that is no object": ("kind: List\nitems:\n- 1", 3, "must be an object (a mapping), not int"),
    "a key twice": ("kind: A\nspec:\n- a: 1\n  b: 2\n  a: 3", 5, "duplicate key, first on line 3"),
    "a key twice on a line": ("{a: 1, a: 2}", 1, "duplicate key, first on line 1"),
    "a key twice in JSON": ('{"a":\n {"b": 1,\n "b": 2}}', 3, "duplicate key, first on line 2"),
    "a key twice in JSON with tabs": ('{\n\t"a": {"b": 1,\n\t"b": 2}}', 3, "duplicate key, first on line 2"),
    "JSON that ends early": ('{"a":\n {"b": 1', 3, "invalid YAML: did not find expected"),
    "an alias of itself": ("a: &a [*a]", 1, "an alias (*) stands inside what it refers to"),
    "an alias of what it is deep in": ("a:\n- &a\n  b: {c: *a}", 3, "an alias (*) stands inside what it refers to"),
    "aliases of aliases": (_aliases("[{}]"), 7, "aliases (*) make this 5111111 characters long"),
    "merged aliases": (_aliases("{{<<: [{}]}}"), 7, "aliases (*) make this 5555551 characters long"),
    "many aliases of a long text": (f"a: &a {'x' * 10**6}\nb: [{'*a, ' * 5}]", 2, "aliases (*) make this 5000"),
}


@pytest.mark.parametrize(("text", "line", "why"), BROKEN.values(), ids=BROKEN)
def test_what_cannot_be_read_says_where_and_why(text: str, line: int | None, why: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        read("-", stdin=text)
    assert (raised.value.file, raised.value.line) == ("<stdin>", line)
    assert raised.value.why.startswith(why)


def test_a_path_that_is_not_there_and_a_folder_without_manifests_are_refused(tmp_path: Path) -> None:
    for path, why in ((tmp_path / "absent", "no such file or folder"), (tmp_path, "the folder holds no")):
        with pytest.raises(InvalidInput, match=why):
            read(path)


@pytest.mark.parametrize("stdin", ["", " \n"])
def test_standard_input_without_a_word_is_refused_because_the_command_before_the_pipe_failed(stdin: str) -> None:
    with pytest.raises(InvalidInput, match="<stdin>: is empty"):
        read("-", stdin=stdin)
    assert read("-", stdin="# no document") == []


def test_a_link_in_a_folder_that_leads_nowhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("kind: A")
    (tmp_path / "b.yaml").symlink_to("nowhere")
    with pytest.raises(InvalidInput, match=r"b\.yaml: cannot be read"):
        read(tmp_path)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(InvalidInput, match="cannot be read"):
        read(tmp_path / "x.yaml")

"""`modelplane cel`: the answers to lines, the table, the exit codes."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from modelplane.cli import main

MANIFESTS = """\
apiVersion: modelplane.ai/v1alpha1
kind: InferenceClass
metadata: {name: h200}
spec:
  devices:
  - name: gpu
    driver: gpu.nvidia.com
    capacity: {memory: {value: 141Gi}}
---
apiVersion: modelplane.ai/v1alpha1
kind: InferenceCluster
metadata: {name: eu}
status:
  gpuPools:
  - name: small
    nodes: 1
    devices:
    - name: gpu
      driver: gpu.nvidia.com
      capacity: {memory: {value: 23034Mi}}
    - name: nic
      driver: nic.nvidia.com
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
"""
MEMORY = 'device.capacity["gpu.nvidia.com"].memory.isGreaterThan(quantity("{}"))'


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "fleet.yaml"
    path.write_text(MANIFESTS)
    return str(path)


def run(*arguments: str, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(main, ["cel", *arguments], input=stdin)


def verdicts(result: Result) -> list[tuple[str, str | None, str, str]]:
    devices: list[dict[str, Any]] = json.loads(result.stdout)["devices"]
    return [(row["object"], row["pool"], row["device"], row["verdict"]) for row in devices]


def test_devices_of_classes_and_pools_are_judged(file: str) -> None:
    result = run(MEMORY.format("100Gi"), "-f", file, "-o", "json")
    assert verdicts(result) == [
        ("InferenceClass/h200", None, "gpu", "match"),
        ("InferenceCluster/eu", "small", "gpu", "no-match"),
        ("InferenceCluster/eu", "small", "nic", "runtime-error"),
    ]
    assert result.exit_code == 0


def test_the_table_says_why(file: str) -> None:
    result = run(MEMORY.format("100Gi"), "-f", file)
    lines = [line.split() for line in result.stdout.splitlines() if not line.startswith(" ")]
    assert lines == [
        ["OBJECT", "POOL", "DEVICE", "VERDICT", "WHY"],
        ["InferenceClass/h200", "-", "gpu", "match"],
        ["InferenceCluster/eu", "small", "gpu", "no-match"],
        [
            "InferenceCluster/eu",
            "small",
            "nic",
            "runtime-error",
            "no",
            "such",
            "key:",
            "memory",
            "(no",
            "capacity",
            "of",
        ],
        ["1", "match,", "1", "no-match,", "1", "runtime-error"],
    ]


def test_nothing_that_matches_is_exit_code_1(file: str) -> None:
    assert run(MEMORY.format("1Ti"), "-f", file).exit_code == 1


def test_a_selector_that_is_refused_is_bad_input_with_its_place(file: str) -> None:
    result = run("device.memory", "-f", file)
    assert (result.exit_code, result.stderr) == (
        2,
        "selector does not compile: line 1, column 8: undefined field 'memory'\n",
    )
    error = json.loads(run("device.memory", "-f", file, "-o", "json").stdout)["error"]
    assert error == {"line": 1, "column": 8, "why": "undefined field 'memory'"}


def test_without_an_expression_devices_are_only_checked(file: str, tmp_path: Path) -> None:
    result = run("-f", file, "-o", "json")
    assert ({row[3] for row in verdicts(result)}, result.exit_code) == ({"accepted"}, 0)
    bad = tmp_path / "bad.yaml"
    bad.write_text(MANIFESTS.replace("141Gi", "141GB"))
    result = run("-f", str(bad), "-o", "json")
    assert (verdicts(result)[0][3], result.exit_code) == ("refused", 1)
    assert "capacity[memory]: '141GB' is not a quantity; write 141G, or 141Gi for" in result.stdout


def test_a_device_that_is_refused_spoils_a_match(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text(MANIFESTS.replace("141Gi", "141GB"))
    result = run("true", "-f", str(bad), "-o", "json")
    assert [row[3] for row in verdicts(result)] == ["refused", "match", "match"]
    assert result.exit_code == 1


def test_several_files_follow_one_option(file: str, tmp_path: Path) -> None:
    second = tmp_path / "second.yaml"
    second.write_text(MANIFESTS)
    assert len(verdicts(run("true", "-f", file, str(second), "-o", "json"))) == 6
    assert len(verdicts(run("true", "-o", "json", "-f", str(tmp_path)))) == 6
    assert len(verdicts(run("true", "-f", "-", "-o", "json", stdin=MANIFESTS))) == 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            MANIFESTS.replace("driver: nic.nvidia.com", "driver: 1"),
            "fleet.yaml:22: status.gpuPools[0].devices[1].driver",
        ),
        ("a: [", "invalid YAML"),
        ("kind: ConfigMap", "no devices are declared"),
    ],
)
def test_bad_input_is_exit_code_2_with_its_place(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "fleet.yaml"
    path.write_text(content)
    result = run("true", "-f", str(path))
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_missing_file_and_a_missing_option_are_exit_code_2() -> None:
    assert run("true", "-f", "nowhere.yaml").exit_code == 2
    assert run("true").exit_code == 2
    assert run("true", "--jsonl").exit_code == 2


DEVICE = {"driver": "gpu.nvidia.com", "attributes": {"i": {"int": 3}, "o.com/x": {"string": "\u00e9"}}}
LINES: list[tuple[object, dict[str, Any]]] = [
    ({"expression": 'device.attributes["gpu.nvidia.com"].i == 3', "device": DEVICE}, {"verdict": "match", "why": None}),
    ({"expression": 'device.attributes["o.com"].x == "\u00e9"', "device": DEVICE}, {"verdict": "match"}),
    ({"expression": "false", "device": DEVICE}, {"verdict": "no-match", "line": None, "column": None, "why": None}),
    (
        {"expression": 'device.attributes["a"].b', "device": DEVICE},
        {"verdict": "runtime-error", "why": "no such key: b (no attributes of a here, only of gpu.nvidia.com, o.com)"},
    ),
    ({"expression": "true &&\n x", "device": DEVICE}, {"verdict": "compile-error", "line": 2, "column": 2}),
    ({"expression": " " * 10_241, "device": DEVICE}, {"verdict": "compile-error"}),
    ({"expression": "\ud800", "device": DEVICE}, {"verdict": "compile-error"}),
    (
        {"expression": "device.allowMultipleAllocations", "device": DEVICE | {"allowMultipleAllocations": True}},
        {"verdict": "match"},
    ),
    (
        {"expression": "true", "device": {"driver": "a.b", "attributes": {"v": {"version": "1"}}}},
        {"verdict": "runtime-error"},
    ),
    (
        {"expression": "true", "device": {"driver": "a.b", "capacity": {"m": {"value": "x"}}}},
        {"verdict": "runtime-error"},
    ),
    ({"expression": "true", "device": 1}, {"verdict": "runtime-error", "why": "device: is not an object"}),
    ({"expression": "true"}, {"verdict": "runtime-error"}),
    ({"expression": 1, "device": DEVICE}, {"verdict": "runtime-error"}),
    ([], {"verdict": "runtime-error"}),
    ("", {"verdict": "runtime-error"}),
]
BROKEN = [
    b"",
    b"{",
    b"\xff\xfe",
    b"[" * 100_000,
    b'{"expression": "true", "device": {"driver": "a", "attributes": {"i": {"int": 1e999}}}}',
]


def test_each_line_gets_one_answer_in_order() -> None:
    stdin = "".join(json.dumps(asked) + "\n" for asked, _ in LINES)
    result = run("--jsonl", stdin=stdin)
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert (len(answers), result.exit_code) == (len(LINES), 0)
    for answer, (asked, expected) in zip(answers, LINES, strict=True):
        assert answer.keys() == {"verdict", "line", "column", "why"}
        assert answer | expected == answer, asked


def test_a_line_that_is_no_json_is_a_runtime_error_and_the_next_is_answered() -> None:
    good = json.dumps(LINES[0][0]).encode()
    result = run("--jsonl", stdin=b"\n".join([*BROKEN, good]))
    answers = [json.loads(line)["verdict"] for line in result.stdout.splitlines()]
    assert answers == ["runtime-error"] * len(BROKEN) + ["match"]
    assert result.exit_code == 0


def test_yaml_says_the_same_as_json(file: str) -> None:
    for expression in (MEMORY.format("100Gi"), "device.memory"):
        as_yaml, as_json = (run(expression, "-f", file, "-o", output) for output in ("yaml", "json"))
        assert yaml.safe_load(as_yaml.stdout) == json.loads(as_json.stdout)
        assert as_yaml.exit_code == as_json.exit_code

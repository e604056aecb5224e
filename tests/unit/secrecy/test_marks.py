"""No value of a Secret gets out of any function or of the preview: not in what succeeds, and not in what fails."""

import io
import json
import sys
from collections.abc import Iterator
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import structlog
import yaml
from click.testing import CliRunner

from bench.passes import Call, NotSettledError, Scene, run_pass
from modelplane.cli import main
from modelplane.cli.logs import configure_logs
from modelplane.cli.serve import FUNCTIONS
from modelplane.preview import ControlPlane
from modelplane.preview.pipelines import Pipeline
from modelplane.step import Desired, Request, Requirement, Result, Step
from modelplane.step.call import dispatch
from modelplane.step.sealed import PLACEHOLDER, Sealed
from modelplane.transport import messages
from modelplane.transport.admission import Received
from modelplane.transport.exchange import answer
from modelplane.transport.structs import decode
from unit.secrecy.marked import FLEET, FORMS, IN_BASE64, MARK, scenes, secret


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """Log as a function does that was started with --debug, and yield what was written."""
    written = io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    configure_logs(debug=True)
    yield written
    structlog.reset_defaults()


@cache
def _scenes() -> tuple[Scene, ...]:
    return tuple(scenes())


def _steps(kind: str) -> list[tuple[str, Step]]:
    modules = {name: import_module(package) for name, package in FUNCTIONS.items()}
    return [(name, dispatch(name, module.STEPS)) for name, module in modules.items() if kind in module.STEPS]


def _call(step: Step) -> Call:
    return lambda wire: answer(step, Received(wire))


def _found(text: str) -> list[str]:
    return [form for form in FORMS if form in text]


def test_the_fleet_holds_marks_in_required_and_in_composed_objects_and_every_kind_is_composed() -> None:
    carried = [scene for scene in _scenes() if IN_BASE64 in str(scene.observed)]
    assert "ModelReplica" in {scene.composite["kind"] for scene in carried}
    kinds = [import_module(package).STEPS for package in FUNCTIONS.values()]
    assert {scene.composite["kind"] for scene in _scenes()} == set().union(*kinds)


def _take_secrets(response: Any) -> list[str]:
    """Take composed Secrets with a marked value, which nothing else may have, from a response; return their names."""
    taken = []
    for name, resource in response.desired.resources.items():
        manifest = decode(resource.resource)
        if manifest["kind"] == "Secret" and _found(json.dumps(manifest.get("data", {}))):
            taken.append(name)
    for name in taken:
        response.desired.resources[name].Clear()
    return taken


def test_no_function_puts_a_value_into_a_response_or_the_log(log: io.StringIO) -> None:
    asked_for_secrets, composed = 0, set[tuple[str, str]]()
    for scene in _scenes():
        steps = [(name, _call(step)) for name, step in _steps(scene.composite["kind"])]
        for exchange in run_pass(scene, steps).exchanges:
            asked_for_secrets += IN_BASE64.encode() in exchange.request
            response = messages.Response.FromString(exchange.response)
            composed |= {(scene.composite["kind"], name) for name in _take_secrets(response)}
            assert [form for form in FORMS if form.encode() in response.SerializeToString()] == []
    assert asked_for_secrets > 0
    assert sorted(composed) == [("ModelEndpoint", "credential"), ("ModelService", "caller-keys")]
    assert log.getvalue().count('"answered"') >= len(_scenes())
    assert _found(log.getvalue()) == []


def _sealed_in(request: Request) -> list[Sealed]:
    found: list[Sealed] = []
    stack: list[Any] = [each.body for each in request.observed.values()]
    stack += [each.body for answers in request.required.values() for each in answers]
    for value in stack:
        found += [value] if isinstance(value, Sealed) else []
        stack += value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return found


def _fails_with(step: Step, request: Request) -> Result:
    result = step(request)
    values = _sealed_in(request)
    if values:
        raise ValueError(f"{values} {values[0]} {request}")
    return result


def test_no_value_gets_into_the_words_or_the_traceback_of_a_failure(log: io.StringIO) -> None:
    failures = 0
    for scene in _scenes():
        for name, step in _steps(scene.composite["kind"]):
            try:
                run_pass(scene, [(name, _call(partial(_fails_with, step)))])
            except NotSettledError as refused:
                failures += PLACEHOLDER in str(refused)
                assert _found(str(refused)) == []
    assert failures > 0
    assert log.getvalue().count("Traceback") >= failures
    assert _found(log.getvalue()) == []


def test_a_value_that_a_step_composes_is_in_the_secret_s_data_alone(log: io.StringIO) -> None:
    def compose(request: Request) -> Result:
        value = _sealed_in(request)[0]
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"}, "data": {"k": value}}
        words = f"{value} {request}"
        return Result(desired={"x": Desired.of(secret)}, status={"message": words}, context={"words": words})

    scene = next(scene for scene in _scenes() if IN_BASE64 in str(scene.observed))
    (exchange,) = run_pass(scene, [("composing", _call(compose))]).exchanges
    response = messages.Response.FromString(exchange.response)
    assert IN_BASE64.encode() in response.desired.resources["x"].resource
    response.desired.resources["x"].Clear()
    assert [form for form in FORMS if form.encode() in response.SerializeToString()] == []
    assert _found(log.getvalue()) == []


@pytest.fixture(scope="module")
def manifests(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fleet")
    (folder / "all.yaml").write_text(yaml.safe_dump_all(FLEET))
    return folder


@pytest.mark.parametrize("output", ["table", "json", "yaml"])
def test_the_preview_prints_no_value(manifests: Path, output: str) -> None:
    printed = CliRunner().invoke(main, ["preview", str(manifests), "-o", output])
    assert printed.exit_code in {0, 1}
    assert _found(printed.output) == []
    if output == "json":
        secrets = [obj for obj in json.loads(printed.stdout)["objects"] if obj["kind"] == "Secret"]
        assert {value for obj in secrets for value in obj.get("data", {}).values()} == {PLACEHOLDER}


@pytest.mark.parametrize("output", ["table", "json", "yaml"])
def test_the_preview_prints_no_value_of_a_secret_in_a_list_that_an_object_applies(output: str) -> None:
    marked = secret("a", "ml", stringData={"b": MARK}, DATA={"c": MARK})
    obj = {
        "apiVersion": "kubernetes.m.crossplane.io/v1alpha1",
        "kind": "Object",
        "metadata": {"name": "o", "namespace": "ml"},
        "spec": {"forProvider": {"manifest": {"apiVersion": "v1", "kind": "List", "items": [marked]}}},
    }
    printed = CliRunner().invoke(main, ["preview", "-", "-o", output], input=json.dumps(obj))
    assert printed.exit_code == 0
    assert (output == "table") or printed.output.count(PLACEHOLDER) >= len({*marked["data"], "b"})
    assert _found(printed.output) == []


def test_a_trace_prints_no_value(manifests: Path) -> None:
    outcome = json.loads(CliRunner().invoke(main, ["preview", str(manifests), "-o", "json"]).stdout)
    replicas = [obj["metadata"]["name"] for obj in outcome["objects"] if obj["kind"] == "ModelReplica"]
    for name in replicas:
        printed = CliRunner().invoke(main, ["preview", str(manifests), "--trace", f"ml/{name}"])
        assert f"ml/{name} on" in printed.output
        assert _found(printed.output) == []
    assert replicas


def test_a_composed_value_stays_sealed_in_the_preview_and_a_reader_gets_a_placeholder() -> None:
    def compose(request: Request) -> Result:
        (source,) = request.required.get("s", [None])
        value = Sealed(b"") if source is None else source.body["data"]["token"].prefixed(b"Bearer ")
        composed = request.observed.get("x")
        seen.append(composed.body["data"]["k"] if composed else None)
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"}, "data": {"k": value}}
        wanted = Requirement("s", "v1", "Secret", match_name="hugging-face", namespace="ml")
        return Result(desired={"x": Desired.of(secret)}, requirements=(wanted,))

    seen: list[Sealed | None] = []
    pipeline = Pipeline("composing", (("compose", compose),))
    kind = "ModelCache.modelplane.ai"
    cache = next(each for each in FLEET if each["kind"] == "ModelCache")
    control = ControlPlane([secret("hugging-face", "ml"), cache], pipelines={kind: pipeline}.get)
    assert control.settle()
    assert seen[-1] == Sealed(f"Bearer {MARK}-of-token".encode())
    found = control.get("Secret", "ml", "x")
    assert found is not None
    assert found["data"] == {"k": PLACEHOLDER}

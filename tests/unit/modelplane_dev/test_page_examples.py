"""What `make up` serves is what the pages on services call, by the names that they call it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from docs.blocks import File, blocks
from modelplane_dev.folders import ROOT
from modelplane_dev.plane.examples import TEAM, example_models, page_deployments, tried_deployment

_MODEL = re.compile(r'"?model"?[:=] ?"([^"<]+)"')
PAGES = [ROOT / "README.md", *(ROOT / "docs" / f"{name}.md" for name in ("serve-a-model", "use-one-url", "try"))]
#: What the pages have besides names of engines' models: names of the service at the fleet URL, before that.
SERVICE = "ml/chat"


def _files(names: list[str]) -> Iterator[dict[str, Any]]:
    for name in names:
        for block in blocks(ROOT / "docs" / f"{name}.md"):
            if isinstance(block, File):
                yield from yaml.safe_load_all(block.text)


def _made() -> list[dict[str, Any]]:
    return [*yaml.safe_load_all(page_deployments()), *yaml.safe_load_all(tried_deployment())]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_engines_of_make_up_serve_each_model_that_a_page_calls(page: Path) -> None:
    called = set(_MODEL.findall(page.read_text()))
    own = {name.removeprefix(SERVICE).strip("/") for name in called} - {""}
    assert own <= {*example_models()}, own


def test_the_deployments_that_services_of_the_pages_select_are_those_that_make_up_writes() -> None:
    names = ["serve-a-model", "call-with-keys", "use-a-provider"]
    selected = {
        entry["selector"]["matchLabels"].get("modelplane.ai/deployment")
        for manifest in _files(names)
        for entry in manifest.get("spec", {}).get("endpoints") or ()
        if isinstance(entry, dict)
    } - {None}
    assert selected == {"llama", "canary"}
    made = {each["metadata"]["name"]: each["metadata"]["namespace"] for each in _made()}
    assert made == dict.fromkeys({*selected, "try"}, TEAM)


def test_the_readme_s_service_and_deployment_are_those_of_the_page_that_tries_them() -> None:
    readme = (ROOT / "README.md").read_text()
    (tried,) = yaml.safe_load_all(tried_deployment())
    (container,) = tried["spec"]["engines"][0]["members"][0]["template"]["spec"]["containers"]
    paths = re.findall(r"\$ curl http://[^/]+(/\S+) --json '(.+)'$", readme, re.MULTILINE)
    assert [path for path, _ in paths] == [f"/{TEAM}/{tried['metadata']['name']}/v1/chat/completions"] * 2
    for _, body in paths:
        assert f"--model={yaml.safe_load(body)['model']}" in container["args"]
    assert "kubectl apply -f build/up/try.yaml" in readme

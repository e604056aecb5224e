"""The pages on services, as their readers follow them: on what `make up` has started, as root."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from docs.blocks import File, blocks, patient_scripts
from modelplane_dev import components
from modelplane_dev.folders import ROOT

#: In this order: the service that the first one makes is called by the others.
PAGES = ("serve-a-model", "use-one-url", "call-with-keys")
#: Seconds that starting, the pages and ending may take.
PATIENCE = 1500.0
_UP = f"{sys.executable} -m modelplane_dev.plane.up"
_BEGIN = f"""
ip link set lo up
trap '{_UP} down' EXIT
{_UP} up > welcome
kubectl() {{ "$KUBECTL" --kubeconfig "$MODELPLANE_UP/run/hub-admin.kubeconfig" "$@"; }}
kubectl apply -f "$MODELPLANE_UP/try.yaml" -f "$MODELPLANE_UP/pages.yaml"
kubectl wait modeldeployment/try modeldeployment/llama modeldeployment/canary -n ml --for=condition=Ready --timeout=10m
eval "$(grep '^  curl ' welcome | sed 's/curl/curl -sS --fail --retry 9 --retry-all-errors/') > first"
"""


@pytest.mark.soak  # tests/unit/modelplane_dev/test_page_examples.py, and the pages themselves in tests/gateways
@pytest.mark.long
def test_each_url_of_the_pages_answers_where_make_up_runs(tmp_path: Path) -> None:
    script = _BEGIN
    for page in PAGES:
        folder = tmp_path / page
        folder.mkdir()
        for block in blocks(ROOT / "docs" / f"{page}.md"):
            if isinstance(block, File):
                (folder / block.name).write_text(block.text)
        script += "".join(f"\ncd {folder}\n{each}" for each in patient_scripts(ROOT / "docs" / f"{page}.md"))
    environment = os.environ | {"MODELPLANE_UP": str(tmp_path / "up"), "KUBECTL": str(components.path("kubectl"))}
    command = ("unshare", "--net", "bash", "-euo", "pipefail", "-c", script)
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    assert '"system_fingerprint"' in (tmp_path / "first").read_text()

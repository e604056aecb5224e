"""The commands of the pages that need no more than an API server: run as they stand there, beside the page's files."""

from pathlib import Path

import pytest

from apiserver.server import Server
from docs.blocks import ON_A_PLANE, File, blocks, scripts
from modelplane_dev.folders import ROOT

PAGES = [page for page in sorted((ROOT / "docs").glob("*.md")) if page.stem not in ON_A_PLANE and scripts(page)]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_a_pages_commands_do_what_they_say(server: Server, page: Path, tmp_path: Path) -> None:
    (tmp_path / "basement.kubeconfig").write_text("apiVersion: v1\nkind: Config\n")
    for block in blocks(page):
        if isinstance(block, File):
            (tmp_path / block.name).write_text(block.text)
    for script in scripts(page):
        server.cluster.shell(script, tmp_path)

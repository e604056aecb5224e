"""The scripts of a documentation page, on a fleet with real gateways."""

from pathlib import Path

from docs.blocks import ON_A_PLANE, File, blocks, patient_scripts
from gateways.live import LiveFleet
from modelplane_dev.folders import ROOT


def open_page(live: LiveFleet, name: str, directory: Path) -> list[str]:
    """Write the files of a page to a directory and return its scripts, both for the fleet's namespace."""

    def here(text: str) -> str:
        return text.replace("namespace: ml", f"namespace: {live.fleet.tag}").replace("-n ml", f"-n {live.fleet.tag}")

    page = ROOT / "docs" / f"{name}.md"
    assert page.stem in ON_A_PLANE
    for block in blocks(page):
        if isinstance(block, File):
            (directory / block.name).write_text(here(block.text))
    return [here(script) for script in patient_scripts(page)]

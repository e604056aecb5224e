"""The charts of the serving stack whose sources are in Go modules, packaged under the versions that are installed."""

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from modelplane_dev import components
from modelplane_dev.components import sources

#: The folders of charts, by name. Of NVIDIA's DRA driver, Node Feature Discovery and Prometheus no module has one.
_FOLDERS: Final[Mapping[str, tuple[tuple[str, str], str]]] = {
    "cert-manager": (sources.CERT_MANAGER, "deploy/charts/cert-manager"),
    "gateway-helm": (sources.ENVOY_GATEWAY, "charts/gateway-helm"),
    "ai-gateway-crds-helm": (sources.AI_GATEWAY, "manifests/charts/ai-gateway-crds-helm"),
    "ai-gateway-helm": (sources.AI_GATEWAY, "manifests/charts/ai-gateway-helm"),
    "lws": (sources.LWS, "charts/lws"),
}
NAMES: Final = tuple(_FOLDERS)
#: What a release of Envoy Gateway fills into the values of its chart.
_FILLED: Final = {
    "${GatewayImage}": "docker.io/envoyproxy/gateway:VERSION",
    "${GatewayImagePullPolicy}": "IfNotPresent",
}


def unpack(name: str, version: str, folder: Path) -> Path:
    """Return the folder of a chart below `folder`, as it is released."""
    (module_set, module), inner = _FOLDERS[name]
    target = folder / name
    shutil.copytree(components.source(module_set, module) / inner, target, copy_function=shutil.copyfile)
    for path in (target, *target.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    if (template := target / "values.tmpl.yaml").exists():
        text = template.read_text()
        for place, value in _FILLED.items():
            text = text.replace(place, value.replace("VERSION", version))
        (target / "values.yaml").write_text(text)
    chart = target / "Chart.yaml"
    released = re.sub(r"(?m)^(version|appVersion): .*$", rf"\1: {version}", chart.read_text())
    chart.write_text(released.replace("{{IS_PRERELEASE}}", "false"))
    return target


def package(name: str, version: str, folder: Path) -> Path:
    """Return the archive of a chart, made in `folder`."""
    unpacked = unpack(name, version, folder)
    command: list[str | Path] = [components.path("helm"), "package", unpacked, "--destination", folder]
    subprocess.run(command, check=True, capture_output=True)
    return folder / f"{name}-{version}.tgz"

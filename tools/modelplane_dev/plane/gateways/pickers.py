"""Endpoint pickers as processes, started as their Deployments say, with the rights of their service accounts.

The program is that of Gateway API's inference extension. llm-d's, which Modelplane composes, has grown from it, but is
in no Go module that can be fetched: its configuration is translated for the former, which has no plugins for
PrefillDecode.
"""

import json
from typing import Final

from modelplane_dev import components
from modelplane_dev.plane.api import Kind, Manifest
from modelplane_dev.plane.gateways.controller import PATIENCE, Gateways, service_name
from modelplane_dev.plane.waiting import eventually
from modelplane_dev.processes.process import Process

_CONFIG_MAP = Kind("v1", "ConfigMap")
_DEPLOYMENT = Kind("apps/v1", "Deployment")
_ACCOUNT = Kind("v1", "ServiceAccount")
_API_VERSION = "inference.networking.x-k8s.io/v1alpha1"
#: A plugin of llm-d's picker alone: in the other program it is a part of the plugin that scores by its result.
_LLM_D: Final = "approx-prefix-cache-producer"
_CONTAINER = "picker"


def _translated(text: str) -> str:
    """Return a configuration of llm-d's picker as one of the inference extension's."""
    found = json.loads(text)
    plugins = [plugin for plugin in found["plugins"] if plugin["type"] != _LLM_D]
    return json.dumps(found | {"apiVersion": _API_VERSION, "plugins": plugins})


def picker(site: Gateways, namespace: str) -> Process:
    """Return the endpoint picker of a namespace's only InferencePool, and resolve its Service's name from now on.

    It listens on the ports of its pod in the site's network, so only one can run.
    """
    api = site.cluster.api

    def only() -> tuple[str, Manifest]:  # a replica that is leaving keeps its own for a while
        ((name, pod),) = (
            (each["metadata"]["name"], pod)
            for each in api.list(_DEPLOYMENT, namespace)
            if (pod := each["spec"]["template"]["spec"])["containers"][0]["name"] == _CONTAINER
        )
        assert api.get(_CONFIG_MAP, pod["volumes"][0]["configMap"]["name"], namespace)
        assert api.get(_ACCOUNT, pod["serviceAccountName"], namespace)
        return name, pod

    name, pod = eventually(only, within=PATIENCE)
    (container,), (volume,) = pod["containers"], pod["volumes"]
    (mount,) = container["volumeMounts"]
    folder = site.folder / f"picker-{pod['serviceAccountName']}"
    folder.mkdir(exist_ok=True)
    for file, text in (api.get(_CONFIG_MAP, volume["configMap"]["name"], namespace) or {})["data"].items():
        (folder / file).write_text(_translated(text))
    arguments = [each.replace(mount["mountPath"], str(folder)) for each in container["args"]]
    kubeconfig = site.cluster.account_kubeconfig(namespace, pod["serviceAccountName"])
    # Its Service has its name.
    site.resolve_services(service_name(name, namespace))
    binary = components.path("endpoint-picker")
    return site.network.process(f"{site.network.name}-picker", binary, *arguments, KUBECONFIG=kubeconfig)

"""llm-d's endpoint pickers and decode sidecars as processes, started as their pods say.

A picker has the rights of its service account. The programs are of an earlier version than the images that Modelplane
composes, which are in no Go module that can be fetched: a picker's configuration is translated for it.
"""

import json
from typing import Final

from modelplane_dev import components
from modelplane_dev.plane.api import Kind, Manifest
from modelplane_dev.plane.gateways.controller import PATIENCE, Gateways, service_name
from modelplane_dev.plane.gateways.network import Network
from modelplane_dev.plane.waiting import eventually
from modelplane_dev.processes.process import Process

_CONFIG_MAP = Kind("v1", "ConfigMap")
_DEPLOYMENT = Kind("apps/v1", "Deployment")
_ACCOUNT = Kind("v1", "ServiceAccount")
_API_VERSION = "inference.networking.x-k8s.io/v1alpha1"
#: What the plugin that scores by a cached prefix has as another one beside it since, and the gate that it had before.
_PRODUCER: Final = "approx-prefix-cache-producer"
_SCORER: Final = "prefix-cache-scorer"
_GATE: Final = "prepareDataPlugins"
_CONTAINER = "picker"
_SIDECAR = "decode-sidecar"


def _translated(text: str) -> str:
    """Return a configuration as the earlier version reads it."""
    found = json.loads(text)
    (producer,) = (each for each in found["plugins"] if each["type"] == _PRODUCER)
    plugins = [
        each | ({"parameters": producer["parameters"]} if each["type"] == _SCORER else {})
        for each in found["plugins"]
        if each is not producer
    ]
    return json.dumps(found | {"apiVersion": _API_VERSION, "featureGates": [_GATE], "plugins": plugins})


def picker(site: Gateways, namespace: str, deployment: str, network: Network | None = None) -> Process:
    """Return the endpoint picker of a ModelDeployment's only replica, and resolve its Service's name from now on.

    It listens on the ports of its pod in a network, that of the site if none is given, where only one can run.
    """
    api = site.cluster.api

    def only() -> tuple[str, Manifest]:  # a replica that is leaving keeps its own for a while
        ((name, pod),) = (
            (each["metadata"]["name"], pod)
            for each in api.list(_DEPLOYMENT, namespace)
            if (pod := each["spec"]["template"]["spec"])["containers"][0]["name"] == _CONTAINER
            and any(word.startswith(f"--pool-name={deployment}-") for word in pod["containers"][0]["args"])
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
    return (network or site.network).process(
        f"{site.network.name}-picker-{deployment}", binary, *arguments, KUBECONFIG=kubeconfig
    )


def sidecar(pod: Manifest, network: Network) -> Process:
    """Return the decode sidecar of a pod, in the pod's network."""
    (container,) = (each for each in pod["spec"]["initContainers"] if each["name"] == _SIDECAR)
    return network.process(f"sidecar-{pod['metadata']['name']}", components.path(_SIDECAR), *container["args"])

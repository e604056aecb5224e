"""Deployments with one profile, edited as an edit of the ModelDeployment does."""

from collections.abc import Iterable
from dataclasses import replace

from modelplane.model.deployment import Deployment, Engine

#: Content of pods whose engines listen on another port than those of any other content.
OTHER_PORT = "v3"


def interface_of(engines: Iterable[Engine], content: str) -> str:
    """Return what clients see of engines: their port, "" where an engine has one copy alone."""
    return "" if any(engine.copies == 1 for engine in engines) else port_of(content)


def port_of(content: str) -> str:
    """Return the port on which engines with some content of their pods listen."""
    return "9000" if content == OTHER_PORT else "8000"


def with_engines(deployment: Deployment, engines: tuple[Engine, ...]) -> Deployment:
    """Return the deployment with other engines in its profile."""
    (profile,) = deployment.profiles
    edited = replace(profile, engines=engines, interface=interface_of(engines, profile.content))
    return replace(deployment, profiles=(edited,))


def with_content(deployment: Deployment, content: str) -> Deployment:
    """Return the deployment with other content of its profile's pods."""
    (profile,) = deployment.profiles
    edited = replace(profile, content=content, interface=interface_of(profile.engines, content))
    return replace(deployment, profiles=(edited,))

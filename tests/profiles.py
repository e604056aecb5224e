"""Deployments with one profile, edited as an edit of the ModelDeployment does."""

from dataclasses import replace

from modelplane.model.deployment import Deployment, Engine


def with_engines(deployment: Deployment, engines: tuple[Engine, ...]) -> Deployment:
    """Return the deployment with other engines in its profile."""
    (profile,) = deployment.profiles
    return replace(deployment, profiles=(replace(profile, engines=engines),))


def with_content(deployment: Deployment, content: str) -> Deployment:
    """Return the deployment with other content of its profile's pods."""
    (profile,) = deployment.profiles
    return replace(deployment, profiles=(replace(profile, content=content),))

"""Puts messages to users together."""


def sentences(*parts: str) -> str:
    """Return the parts that are not empty as one text, each ended by a period unless it ends in one."""
    return " ".join(part if part.endswith(".") else f"{part}." for part in parts if part)

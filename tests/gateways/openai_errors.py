"""Makes calls that fail with OpenAI's own client: `python -m ...`, whose input has a JSON object a line.

Each has `base_url`, `api_key`, `model` and `headers`. It prints a list of [exception, code, Retry-After, request id].
"""

import json
import sys

import openai

from modelplane_dev.plane.gateways.requests import PATIENCE


def _call(base_url: str, api_key: str, model: str, headers: dict[str, str]) -> list[str | None]:
    client = openai.OpenAI(base_url=base_url, api_key=api_key, max_retries=0, timeout=PATIENCE, default_headers=headers)
    try:
        client.chat.completions.create(model=model, messages=[{"role": "user", "content": "Hello"}])
    except openai.APIStatusError as error:
        found = error.response.headers
        return [type(error).__name__, str(error.code), found.get("retry-after"), found.get("x-request-id")]
    return ["", "", None, None]


def main() -> None:
    """Make each call once."""
    sys.stdout.write(json.dumps([_call(**json.loads(line)) for line in sys.stdin]))


if __name__ == "__main__":
    main()

"""Reads models with OpenAI's own client: `python -m ... BASE_URL KEY NAME...`, which prints as JSON what each name has.

That is the id of the model, or status and code of the error.
"""

import json
import sys

import openai

from modelplane_dev.plane.gateways.requests import PATIENCE


def _read(client: openai.OpenAI, name: str) -> str:
    try:
        return client.models.retrieve(name).id
    except openai.APIStatusError as error:
        return f"{error.status_code} {error.code}"


def main(url: str, key: str, *names: str) -> None:
    """Read each model once."""
    client = openai.OpenAI(base_url=url, api_key=key, max_retries=0, timeout=PATIENCE)
    sys.stdout.write(json.dumps({name: _read(client, name) for name in names}))


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Makes calls that are no chats with OpenAI's own client, at the fleet URL: `python -m ... BASE_URL KEY MODEL`."""

import json
import sys

import openai

from modelplane_dev.plane.gateways.requests import PATIENCE


def main(url: str, key: str, model: str) -> None:
    """Send a form, read the list of models, and delete, each for a service in the header x-model; print the answers."""
    unnamed = openai.OpenAI(base_url=url, api_key=key, max_retries=0, timeout=PATIENCE)
    client = unnamed.with_options(default_headers={"x-model": model})
    spoken = client.audio.transcriptions.create(model="example/model", file=("a.wav", b"x" * 100_000))
    found = {
        "form": spoken.text,
        "models": [each.id for each in client.models.list()],
        "delete": client.files.with_raw_response.delete("file-1").http_response.json()["path"],
    }
    try:
        unnamed.audio.transcriptions.create(model=model, file=("a.wav", b"x"))
    except openai.BadRequestError as error:
        found["unnamed"] = error.message
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])

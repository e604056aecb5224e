"""Calls a service with OpenAI's own client: `python -m ... BASE_URL KEY`, which prints what it was answered as JSON."""

import json
import sys

import openai
from openai.types.chat import ChatCompletionUserMessageParam

from modelplane_dev.plane.gateways.requests import PATIENCE

MODEL = "example/model"
#: Characters of a long prompt.
LONG = 2_000_000


def _ask(text: str) -> list[ChatCompletionUserMessageParam]:
    return [{"role": "user", "content": text}]


def main(url: str, key: str) -> None:
    """Make a call of each kind, none of them twice, and print the answers."""
    client = openai.OpenAI(base_url=url, api_key=key, max_retries=0, timeout=PATIENCE)
    chat = client.chat.completions.create(model=MODEL, messages=_ask("Hello"))
    long = client.chat.completions.create(model=MODEL, messages=_ask("x" * LONG))
    stream = client.chat.completions.create(
        model=MODEL, messages=_ask("Hello"), stream=True, stream_options={"include_usage": True}
    )
    chunks = list(stream)
    embeddings = client.embeddings.create(model=MODEL, input=["one", "two"])
    found = {
        "chat": chat.choices[0].message.content,
        "long": long.usage.prompt_tokens if long.usage else 0,
        "streamed": [choice.delta.content for chunk in chunks for choice in chunk.choices],
        "stream_tokens": [chunk.usage.completion_tokens for chunk in chunks if chunk.usage],
        "embeddings": [each.embedding for each in embeddings.data],
        "models": [each.id for each in client.models.list()],
    }
    try:
        client.with_options(api_key="wrong").models.list()
    except openai.AuthenticationError as error:
        found["refused"] = error.code
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])

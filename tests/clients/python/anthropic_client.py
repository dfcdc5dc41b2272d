"""Uses a server with Anthropic's Python client. Each line of its input names what to do, and is answered by a line: what came of it."""

import json
import sys

from anthropic import Anthropic, beta_tool

client = Anthropic(max_retries=0)
WEATHER = {
    "name": "get_weather",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}},
}


def asked(text, **more):
    return {"model": "gpt-5-mini", "max_tokens": 1000, "messages": [{"role": "user", "content": text}], **more}


def told(message):
    return {
        "types": [block.type for block in message.content],
        "text": "".join(block.text for block in message.content if block.type == "text"),
        "calls": [block.input for block in message.content if block.type == "tool_use"],
        "reason": message.stop_reason,
        "tokens": message.usage.input_tokens,
    }


def stream():
    request = asked("weather", tools=[WEATHER])
    with client.messages.stream(**request) as events:
        streamed = told(events.get_final_message())
    return {"streamed": streamed, "plain": told(client.messages.create(**request))}


def runner():
    cities = []

    @beta_tool
    def get_weather(city: str) -> str:
        """Tells the weather.

        Args:
            city: The city.
        """
        cities.append(city)
        return "Sun"

    request = asked("weather", tools=[get_weather])
    return {**told(client.beta.messages.tool_runner(**request).until_done()), "cities": cities}


def search():
    tool = {"type": "web_search_20250305", "name": "web_search"}
    return told(client.messages.create(**asked("herons", tools=[tool])))


def count():
    request = asked("think")
    del request["max_tokens"]
    return client.messages.count_tokens(**request).input_tokens


WAYS = {"stream": stream, "runner": runner, "search": search, "count": count}

for line in sys.stdin:
    print(json.dumps(WAYS[json.loads(line)["way"]]()), flush=True)

"""Uses chat completions with the official Python client. Each line of its input names what to do, and is answered by a line: what came of it."""

import json
import sys

from openai import OpenAI
from pydantic import BaseModel

client = OpenAI(max_retries=0)
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "strict": True,
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
            "additionalProperties": False,
        },
    },
}


class Place(BaseModel):
    city: str


def asked(text, **more):
    return {"model": "gpt-5-mini", "messages": [{"role": "user", "content": text}], **more}


def told(completion):
    choice = completion.choices[0]
    calls = choice.message.tool_calls or []
    return {
        "text": choice.message.content,
        "calls": [json.loads(call.function.arguments) for call in calls],
        "reason": choice.finish_reason,
        "tokens": completion.usage.total_tokens,
    }


def stream():
    request = asked("weather", tools=[WEATHER])
    with client.chat.completions.stream(**request, stream_options={"include_usage": True}) as events:
        for _ in events:
            pass
        streamed = told(events.get_final_completion())
    return {"streamed": streamed, "plain": told(client.chat.completions.create(**request))}


def parse():
    completion = client.chat.completions.parse(**asked("a place"), response_format=Place)
    return completion.choices[0].message.parsed.city


WAYS = {"stream": stream, "parse": parse}

for line in sys.stdin:
    print(json.dumps(WAYS[json.loads(line)["way"]]()), flush=True)

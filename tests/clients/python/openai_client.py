"""Uses a server with the official Python client. Each line of its input names what to do, and is answered by a line: what came of it."""

import json
import sys

from openai import OpenAI

MODEL = "gpt-5-mini"
client = OpenAI(max_retries=0)
SHOP = {"type": "mcp", "server_label": "shop"}


def shop(approval):
    return {**SHOP, "require_approval": approval}


def streamed(**request):
    with client.responses.stream(model=MODEL, **request) as stream:
        types = {event.type for event in stream}
        return stream.get_final_response(), types


def told(response, types=frozenset()):
    return {
        "output": [item.type for item in response.output],
        "text": response.output_text,
        "events": sorted(types),
        "content": response.model_dump(mode="json")["output"],
    }


def tool(kind, text):
    return told(*streamed(input=text, tools=[{"type": kind}]))


def plain_search():
    return told(client.responses.create(model=MODEL, input="herons in depth", tools=[{"type": "web_search"}]))


def mcp():
    return told(*streamed(input="pay", tools=[shop("never")]))


def approval(approve):
    asked, _ = streamed(input="pay", tools=[shop("always")])
    answer = {"type": "mcp_approval_response", "approval_request_id": asked.output[-1].id, "approve": approve}
    return told(*streamed(input=[answer], previous_response_id=asked.id, tools=[shop("always")]))


WAYS = {
    "web_search": lambda: tool("web_search", "herons in depth"),
    "plain_search": plain_search,
    "image_generation": lambda: tool("image_generation", "a boat"),
    "mcp": mcp,
    "approve": lambda: approval(True),
    "deny": lambda: approval(False),
}

for line in sys.stdin:
    order = json.loads(line)
    SHOP["server_url"] = order["shop"]
    print(json.dumps(WAYS[order["way"]]()), flush=True)

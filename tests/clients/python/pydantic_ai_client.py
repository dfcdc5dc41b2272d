"""Runs an agent of Pydantic AI. Each line of its input names what to do, and is answered by a line: what came of it."""

import asyncio
import json
import sys

from pydantic_ai import Agent, Tool
from pydantic_ai.messages import ModelMessagesTypeAdapter
from pydantic_ai.models.openai import OpenAIResponsesModel

# A name for which the library lets the server search tools.
MODEL = OpenAIResponsesModel("gpt-5.4")


def create_invoice() -> str:
    """Writes a bill."""
    return "written"


def kinds(result):
    return [part.part_kind for message in result.all_messages() for part in message.parts]


def stripped(messages):
    """As a program keeps them that does not know the details of providers."""
    kept = ModelMessagesTypeAdapter.dump_python(messages, mode="json")
    for message in kept:
        for part in message["parts"]:
            part.pop("provider_details", None)
    return ModelMessagesTypeAdapter.validate_python(kept)


async def tool_search(keeps):
    who = Agent(MODEL, tools=[Tool(create_invoice, defer_loading=True)])
    first = await who.run("Please write an invoice")
    second = await who.run("What did I say?", message_history=keeps(first.all_messages()))
    return {"text": first.output, "parts": kinds(first), "again": second.output}


WAYS = {"whole": lambda: tool_search(list), "stripped": lambda: tool_search(stripped)}


async def main():
    for line in sys.stdin:
        print(json.dumps(await WAYS[json.loads(line)["way"]]()), flush=True)


asyncio.run(main())

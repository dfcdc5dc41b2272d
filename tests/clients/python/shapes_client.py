"""Asks a small model for shapes and calls. Each line of its input names what to do, and is answered by a line."""

import asyncio
import json
import sys

from agents import Agent, ModelSettings, Runner, function_tool
from openai import AsyncOpenAI
from pydantic import BaseModel

MODEL = "embedded"


class Line(BaseModel):
    product: str
    count: int


class Order(BaseModel):
    customer: str
    lines: list[Line]


client = AsyncOpenAI()


async def parsed():
    response = await client.responses.parse(
        model=MODEL, input="Ann wants 2 apples", text_format=Order, max_output_tokens=600
    )
    return response.output_parsed.model_dump()


def agent(**more):
    return Agent(name="Helper", model=MODEL, instructions="Be brief.", **more)


async def shaped(streamed):
    who = agent(output_type=Order, model_settings=ModelSettings(max_tokens=600))
    if not streamed:
        return (await Runner.run(who, "Ann wants 2 apples")).final_output.model_dump()
    result = Runner.run_streamed(who, "Ann wants 2 apples")
    async for _ in result.stream_events():
        pass
    return result.final_output.model_dump()


async def called():
    cities = []

    @function_tool
    def get_weather(city: str) -> str:
        """Tells the weather of a city."""
        cities.append(city)
        return "18 degrees"

    settings = ModelSettings(tool_choice="required", max_tokens=300)
    # A model of random weights seldom ends a text.
    who = agent(tools=[get_weather], model_settings=settings, tool_use_behavior="stop_on_first_tool")
    result = await Runner.run(who, "What is the weather in Rome?")
    return {"cities": cities, "items": [item.type for item in result.new_items]}


WAYS = {
    "parsed": parsed,
    "shaped": lambda: shaped(False),
    "shaped, streamed": lambda: shaped(True),
    "called": called,
}


async def main():
    for line in sys.stdin:
        print(json.dumps(await WAYS[json.loads(line)["way"]]()), flush=True)


asyncio.run(main())

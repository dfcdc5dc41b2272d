"""Runs an agent against a server. Each line of its input names what to do, and is answered by a line: what came of it."""

import asyncio
import json
import sys

from agents import (
    Agent,
    CodeInterpreterTool,
    FileSearchTool,
    HostedMCPTool,
    ImageGenerationTool,
    ModelSettings,
    OpenAIConversationsSession,
    ProgrammaticToolCallingTool,
    Runner,
    WebSearchTool,
    function_tool,
)

SHOP = {"type": "mcp", "server_label": "shop"}
STORE = {}
ORDER = {}


def agent(*tools):
    return Agent(name="Helper", model="gpt-5-mini", instructions="Be brief.", tools=list(tools))


def shop(approval, ask=None):
    return HostedMCPTool(tool_config={**SHOP, "require_approval": approval}, on_approval_request=ask)


async def run(who, said, streamed=False):
    if not streamed:
        return await Runner.run(who, said)
    result = Runner.run_streamed(who, said)
    async for _ in result.stream_events():
        pass
    return result


def told(result):
    return {"text": result.final_output, "items": [item.type for item in result.new_items]}


async def callback(approve):
    asked = []

    def ask(request):
        asked.append(request.data.name)
        return {"approve": approve}

    result = await run(agent(shop("always", ask)), "Please pay")
    return {**told(result), "asked": asked}


async def person(approve):
    who = agent(shop("always"))
    asked = await run(who, "Please pay")
    state = asked.to_state()
    for interruption in asked.interruptions:
        if approve:
            state.approve(interruption)
        else:
            state.reject(interruption)
    return {**told(await Runner.run(who, state)), "asked": [one.raw_item.name for one in asked.interruptions]}


BACKGROUND = ModelSettings(extra_body={"background": True})


async def continued():
    who = Agent(name="Helper", model="m", instructions="Be brief.", model_settings=BACKGROUND)
    first = await run(who, ORDER["said"], True)
    second = await run(who, [*first.to_input_list(), {"role": "user", "content": ORDER["next"]}], True)
    return {"texts": [first.final_output, second.final_output]}


async def continued_call():
    cities = []

    @function_tool
    def get_weather(city: str) -> str:
        """Tells the weather of a city."""
        cities.append(city)
        return "18"

    who = Agent(name="Helper", model="m", instructions="Be brief.", tools=[get_weather], model_settings=BACKGROUND)
    return {"text": (await run(who, ORDER["said"], True)).final_output, "cities": cities}


async def search(streamed):
    first = await run(agent(WebSearchTool()), "Find herons in depth", streamed)
    history = [*first.to_input_list(), {"role": "user", "content": "What did I say?"}]
    second = await run(agent(WebSearchTool()), history, streamed)
    return {**told(first), "again": second.final_output}


async def session():
    kept = OpenAIConversationsSession()
    first = await Runner.run(agent(), "When does the tide turn?", session=kept)
    second = await Runner.run(agent(), "What did I say?", session=kept)
    return {**told(first), "again": second.final_output}


async def file_search(store, streamed):
    tool = FileSearchTool(vector_store_ids=[store], max_num_results=3, include_search_results=True)
    first = await run(agent(tool), "When do owls fly?", streamed)
    history = [*first.to_input_list(), {"role": "user", "content": "What did I say?"}]
    second = await run(agent(tool), history, streamed)
    return {**told(first), "again": second.final_output}


async def code(files, turns, streamed):
    tool = CodeInterpreterTool(
        tool_config={"type": "code_interpreter", "container": {"type": "auto", "file_ids": files}}
    )
    history, texts, containers = [], [], set()
    for said in turns:
        result = await run(agent(tool), [*history, {"role": "user", "content": said}], streamed)
        history = result.to_input_list()
        texts.append(result.final_output)
        containers.add(result.new_items[0].raw_item.container_id)
    return {**told(result), "texts": texts, "containers": len(containers)}


async def image():
    tool = ImageGenerationTool(tool_config={"type": "image_generation"})
    return told(await run(agent(tool), "Draw a boat", True))


async def mcp():
    return told(await run(agent(shop("never")), "Please pay", True))


async def programs(streamed):
    counted = []

    @function_tool(allowed_callers=["programmatic"])
    def count_stock(sku: str) -> str:
        """Counts."""
        counted.append(sku)
        return json.dumps({"units": len(counted)})

    result = await run(agent(count_stock, ProgrammaticToolCallingTool()), "How much stock is there?", streamed)
    outputs = [item["result"] for item in result.to_input_list() if item.get("type") == "program_output"]
    return {**told(result), "counted": sorted(counted), "outputs": outputs}


WAYS = {
    "plain_search": lambda: search(False),
    "streamed_search": lambda: search(True),
    "session": session,
    "plain_programs": lambda: programs(False),
    "streamed_programs": lambda: programs(True),
    "plain_file_search": lambda: file_search(STORE["id"], False),
    "streamed_file_search": lambda: file_search(STORE["id"], True),
    "plain_code": lambda: code(ORDER["files"], ORDER["turns"], False),
    "streamed_code": lambda: code(ORDER["files"], ORDER["turns"], True),
    "continued": continued,
    "continued_call": continued_call,
    "image_generation": image,
    "mcp": mcp,
    "callback_approves": lambda: callback(True),
    "callback_denies": lambda: callback(False),
    "person_approves": lambda: person(True),
    "person_denies": lambda: person(False),
}

async def main():
    for line in sys.stdin:
        order = json.loads(line)
        SHOP["server_url"] = order["shop"]
        STORE["id"] = order.get("store")
        ORDER.update(order)
        print(json.dumps(await WAYS[order["way"]]()), flush=True)


asyncio.run(main())

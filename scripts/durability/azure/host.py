"""
The agent of the durability trial on Azure's azure-ai-agentserver-responses, by that library's own pattern for runs that
survive a crash: resilient_background is on, each item is followed by a checkpoint, and a recovered run goes on after
the items of the last checkpoint. Serves on PORT of loopback; MODEL_URL and MCP_URL name the servers of the world.
"""

import asyncio
import itertools
import json
import os

import aiohttp
from azure.ai.agentserver.responses import (
    CreateResponse,
    ResponseContext,
    ResponseEventStream,
    ResponsesAgentServerHost,
    ResponsesServerOptions,
)

MODEL_URL = os.environ["MODEL_URL"]
MCP_URL = os.environ["MCP_URL"]
SERVER_LABEL = os.environ["SERVER_LABEL"]
TOOL = os.environ["TOOL"]
OFFERED_TOOL = f"{SERVER_LABEL}__{TOOL}"

# Its traces are left out, as the servers that it is compared with write none.
app = ResponsesAgentServerHost(
    options=ResponsesServerOptions(resilient_background=True),
    configure_observability=None,
    access_log=None,
    log_level="WARNING",
)


@app.response_handler
async def answer(request: CreateResponse, context: ResponseContext, _cancelled: asyncio.Event):
    if context.is_recovery and context.persisted_response is not None:
        stream = ResponseEventStream(response_id=context.response_id, response=context.persisted_response)
    else:
        stream = ResponseEventStream(response_id=context.response_id, request=request)
    yield stream.emit_created()
    yield stream.emit_in_progress()
    prompt = await context.get_input_text()
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None)) as session:
        has_called = True
        while has_called:
            has_called = False
            async for event in take_turn(stream, session, prompt):
                has_called = has_called or event["type"] == "response.mcp_call_arguments.done"
                yield event
            yield stream.checkpoint()
    yield stream.emit_completed()


async def take_turn(stream: ResponseEventStream, session: aiohttp.ClientSession, prompt: str):
    """Asks the model once. Yields the events of the one item that comes of it, a call or a message."""
    call = message = text = None
    arguments = ""
    async for delta in ask_model(session, messages_of(stream, prompt)):
        for piece in delta.get("tool_calls", []):
            if call is None:
                call = stream.add_output_item_mcp_call(SERVER_LABEL, TOOL)
                yield call.emit_added()
                yield call.emit_in_progress()
            if piece["function"]["arguments"]:
                arguments += piece["function"]["arguments"]
                yield call.emit_arguments_delta(piece["function"]["arguments"])
        if delta.get("content"):
            if message is None:
                message = stream.add_output_item_message()
                yield message.emit_added()
                text = message.add_text_content()
                yield text.emit_added()
            yield text.emit_delta(delta["content"])
    if call is not None:
        yield call.emit_arguments_done(arguments)
        output = await call_tool(session, json.loads(arguments))
        yield call.emit_completed()
        yield call.emit_done(output=output)
    if message is not None:
        yield text.emit_text_done()
        yield text.emit_done()
        yield message.emit_done()


def messages_of(stream: ResponseEventStream, prompt: str) -> list:
    """What the model is shown: the question, and each call with its result."""
    messages = [{"role": "user", "content": prompt}]
    calls = [item for item in stream.response["output"] if item["type"] == "mcp_call"]
    for number, item in enumerate(calls):
        function = {"name": OFFERED_TOOL, "arguments": item["arguments"]}
        made = {"id": f"call_{number}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [made]})
        messages.append({"role": "tool", "tool_call_id": f"call_{number}", "content": item["output"]})
    return messages


async def ask_model(session: aiohttp.ClientSession, messages: list):
    parameters = {"type": "object", "properties": {"run": {"type": "string"}, "step": {"type": "number"}}}
    tool = {"type": "function", "function": {"name": OFFERED_TOOL, "parameters": parameters}}
    body = {"model": "scripted", "stream": True, "messages": messages, "tools": [tool]}
    async with session.post(f"{MODEL_URL}/chat/completions", json=body) as reply:
        reply.raise_for_status()
        async for data in data_lines(reply):
            if data != "[DONE]":
                for choice in json.loads(data)["choices"]:
                    yield choice["delta"]


async def call_tool(session: aiohttp.ClientSession, arguments: dict) -> str:
    """Calls the tool over MCP. Its server has no sessions, so that no call needs another before it."""
    params = {"name": TOOL, "arguments": arguments}
    body = {"jsonrpc": "2.0", "id": next(REQUEST_IDS), "method": "tools/call", "params": params}
    headers = {"accept": "application/json, text/event-stream"}
    async with session.post(MCP_URL, json=body, headers=headers) as reply:
        reply.raise_for_status()
        async for data in data_lines(reply):
            return json.loads(data)["result"]["content"][0]["text"]
    raise RuntimeError("the tool server said nothing")


REQUEST_IDS = itertools.count(1)


async def data_lines(reply: aiohttp.ClientResponse):
    async for line in reply.content:
        text = line.decode().strip()
        if text.startswith("data: "):
            yield text.removeprefix("data: ")


if __name__ == "__main__":
    app.run(host="127.0.0.1", port=int(os.environ["PORT"]))

"""Uses a server with the official Python client. Each line of its input names what to do, and is answered by a line: what came of it."""

import json
import sys

from openai import OpenAI

MODEL = "gpt-5-mini"
client = OpenAI(max_retries=0)
SHOP = {"type": "mcp", "server_label": "shop"}
ORDER = {}


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


def continued_call():
    asked, types = streamed(input=ORDER["said"], tools=[ORDER["function"]], background=True)
    made = [item for item in asked.output if item.status == "completed"]
    output = {"type": "function_call_output", "call_id": made[-1].call_id, "output": "18"}
    ended, _ = streamed(input=[output], previous_response_id=asked.id, tools=[ORDER["function"]], background=True)
    return {**told(asked, types), "statuses": [item.status for item in asked.output], "answer": ended.output_text}


def plain_search():
    return told(client.responses.create(model=MODEL, input="herons in depth", tools=[{"type": "web_search"}]))


def mcp():
    return told(*streamed(input="pay", tools=[shop("never")]))


def approval(approve):
    asked, _ = streamed(input="pay", tools=[shop("always")])
    answer = {"type": "mcp_approval_response", "approval_request_id": asked.output[-1].id, "approve": approve}
    return told(*streamed(input=[answer], previous_response_id=asked.id, tools=[shop("always")]))


def read(page):
    return [entry for entry in page]


def filled():
    made = client.files.create(file=("owls.txt", b"Owls fly at night."), purpose="assistants")
    store = client.vector_stores.create(name="Owls")
    client.vector_stores.files.create_and_poll(made.id, vector_store_id=store.id, poll_interval_ms=20)
    return store.id


def file_search(is_streamed):
    request = {
        "input": "owls",
        "tools": [{"type": "file_search", "vector_store_ids": [filled()]}],
        "include": ["file_search_call.results"],
    }
    if is_streamed:
        return told(*streamed(**request))
    return told(client.responses.create(model=MODEL, **request))


def vector_stores():
    stores = client.vector_stores
    store = stores.create(name="Owls", expires_after={"anchor": "last_active_at", "days": 2}, metadata={"a": "b"})
    changed = stores.update(store.id, name="Birds")
    kept = stores.retrieve(store.id)
    first = client.files.create(file=("a.txt", b"Owls fly at night."), purpose="assistants")
    wait = {"vector_store_id": store.id, "poll_interval_ms": 20}
    added = stores.files.create_and_poll(first.id, attributes={"year": 2020}, **wait)
    sent = stores.files.upload_and_poll(file=("b.txt", b"Ducks swim."), **wait)
    later = stores.files.upload(vector_store_id=store.id, file=("c.bin", b"\0\1"))
    failed = stores.files.poll(later.id, **wait)
    again = stores.files.retrieve(first.id, vector_store_id=store.id)
    moved = stores.files.update(first.id, vector_store_id=store.id, attributes={"year": 2021})
    content = [part.text for part in read(stores.files.content(first.id, vector_store_id=store.id))]
    newer = {"type": "gt", "key": "year", "value": 2020}
    found = read(stores.search(store.id, query="owl", filters=newer))
    listed = read(stores.files.list(store.id, limit=1, order="asc"))
    batch = stores.file_batches.create_and_poll(file_ids=[first.id, sent.id], **wait)
    more = stores.file_batches.upload_and_poll(files=[("d.txt", b"Geese swim.")], **wait)
    members = read(stores.file_batches.list_files(batch.id, vector_store_id=store.id, limit=1))
    cancelled = stores.file_batches.cancel(batch.id, vector_store_id=store.id)
    seen = stores.file_batches.retrieve(more.id, vector_store_id=store.id)
    out = stores.files.delete(sent.id, vector_store_id=store.id)
    names = [one.name for one in read(stores.list(limit=1))]
    gone = stores.delete(store.id)
    return {
        "names": [store.name, changed.name, kept.name],
        "listed": "Birds" in names,
        "statuses": [added.status, sent.status, failed.status, again.status, batch.status, more.status, seen.status],
        "attributes": [added.attributes, moved.attributes],
        "content": content,
        "found": [result.filename for result in found],
        "counts": [len(listed), len(members), batch.file_counts.completed, cancelled.file_counts.total],
        "deleted": [out.deleted, gone.deleted],
    }


def code(turns, sales, is_streamed):
    """Has a table analysed over turns of a chain, and downloads what was made of it."""
    containers = client.containers
    container = containers.create(name="birds")
    sent = containers.files.create(container.id, file=("sales.csv", sales.encode()))
    tools = [{"type": "code_interpreter", "container": container.id}]
    answers = []
    for said in turns:
        request = {"input": said, "tools": tools, "include": ["code_interpreter_call.outputs"]}
        if answers:
            request["previous_response_id"] = answers[-1].id
        answers.append(streamed(**request)[0] if is_streamed else client.responses.create(model=MODEL, **request))
    calls = [answer.output[0] for answer in answers]
    cited = answers[-1].output[-1].content[0].annotations[-1]
    chart = containers.files.content.retrieve(cited.file_id, container_id=cited.container_id).read()
    listed = read(containers.files.list(container.id, limit=1, order="asc"))
    kept = containers.files.retrieve(cited.file_id, container_id=container.id)
    containers.files.delete(sent.id, container_id=container.id)
    left = read(containers.files.list(container.id))
    named = [one.id == container.id for one in read(containers.list(name="birds"))]
    seen = containers.retrieve(container.id)
    containers.delete(container.id)
    return {
        "texts": [answer.output_text for answer in answers],
        "statuses": [call.status for call in calls],
        "logs": ["".join(out.logs for out in call.outputs if out.type == "logs").strip() for call in calls],
        "cited": cited.filename,
        "png": chart.startswith(b"\x89PNG") and len(chart) == kept.bytes,
        "files": sorted({one.path for one in listed}),
        "left": sorted({one.path for one in left} & {sent.path, kept.path}),
        "container": [named, seen.status, client.containers.list(name="birds").data],
    }


WAYS = {
    "plain_code": lambda: code(ORDER["turns"], ORDER["sales"], False),
    "streamed_code": lambda: code(ORDER["turns"], ORDER["sales"], True),
    "vector_stores": vector_stores,
    "plain_file_search": lambda: file_search(False),
    "streamed_file_search": lambda: file_search(True),
    "continued": lambda: told(*streamed(input=ORDER["said"], background=True)),
    "continued_call": continued_call,
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
    ORDER.update(order)
    print(json.dumps(WAYS[order["way"]]()), flush=True)

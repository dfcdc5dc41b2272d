"""Teaches Schemathesis JSON lines: a request is one line, or several; of a reply the first line is held to its schema."""

import json

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def write_lines(ctx, value):
    values = value if isinstance(value, list) else [value]
    return b"".join(json.dumps(one).encode() + b"\n" for one in values)


@schemathesis.deserializer("application/x-ndjson")
def read_first_line(ctx, response):
    return json.loads(response.content.split(b"\n", 1)[0])

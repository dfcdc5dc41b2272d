"""Reads an event of a webhook with the official SDK: its secret, its headers as JSON and its body."""

import json
import sys

from openai import OpenAI

_, secret, headers, body = sys.argv
event = OpenAI(api_key="none").webhooks.unwrap(body, json.loads(headers), secret=secret)
print(json.dumps({"type": event.type, "data": {"id": event.data.id}}))

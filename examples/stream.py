"""Prints an answer while the model writes it. OPENAI_BASE_URL and OPENAI_API_KEY name the server."""

import os
import sys

from openai import OpenAI

question = sys.argv[1] if len(sys.argv) > 1 else "Write a sentence about the sea"
stream = OpenAI().responses.create(model=os.environ.get("MODEL", "antiphon-built-in"), input=question, stream=True)
for event in stream:
    if event.type == "response.output_text.delta":
        print(event.delta, end="", flush=True)
    if event.type == "response.completed":
        print(f"\n({event.response.usage.output_tokens} tokens)")

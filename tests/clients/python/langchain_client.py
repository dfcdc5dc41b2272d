"""Uses LangChain with a server. Each line of its input names a provider, and is answered by a line: what came of it."""

import json
import os
import sys

from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

MODEL = "gpt-5-mini"
MODELS = {
    "openai": lambda: ChatOpenAI(model=MODEL, max_retries=0),
    "anthropic": lambda: ChatAnthropic(
        model=MODEL, max_tokens=1000, max_retries=0, base_url=os.environ["ANTHROPIC_BASE_URL"]
    ),
}


@tool
def get_weather(city: str) -> str:
    """Tells the weather of a city."""
    return f"18 degrees in {city}"


def text(message):
    return message.text if isinstance(message.text, str) else message.text()


def run(provider):
    model = MODELS[provider]().bind_tools([get_weather])
    question = HumanMessage("weather")
    whole = None
    for chunk in model.stream([question]):
        whole = chunk if whole is None else whole + chunk
    outputs = [get_weather.invoke(call) for call in whole.tool_calls]
    answer = model.invoke([question, whole, *outputs])
    return {
        "said": text(whole),
        "calls": [call["args"] for call in whole.tool_calls],
        "answer": text(answer),
        "counted": answer.usage_metadata["total_tokens"] > 0,
    }


for line in sys.stdin:
    print(json.dumps(run(json.loads(line)["way"])), flush=True)

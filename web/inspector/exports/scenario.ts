import type { Response } from "../../../src/client/index.ts";
import { jsonOrUndefined, listAt, type Members, membersAt, numberAt, textAt } from "../base/members.ts";
import { asShownItem, type ShownItem } from "../items/fold-events.ts";

/**
 * A scenario file that makes the built-in engine answer as this run did. YAML accepts JSON, so texts are written as
 * JSON.
 */
export function scenarioFile(response: Response, input: readonly ShownItem[]): string {
  const turns = turnsOf(response.output.flatMap((item) => asShownItem(item) ?? []));
  const said = lastWords(input);
  const scenarios = turns.map((events, index) => {
    const when = [
      ...(said === "" ? [] : [`input_contains: ${JSON.stringify(said)}`]),
      ...(turns.length > 1 ? [index === 0 ? "has_tool_output: false" : `tool_outputs: ${index}`] : []),
    ];
    const isLast = index === turns.length - 1;
    const last = isLast
      ? [...usageLine(response), finishLine(response)]
      : ["usage: {input_tokens: 0, output_tokens: 0}"];
    return [
      `  - when: { ${when.join(", ")} }`,
      "    events:",
      ...[...events, ...last].map((line) => `      - ${line}`),
    ].join("\n");
  });
  return [`models: [${JSON.stringify(response.model)}]`, "fallback: planner", "", "scenarios:", ...scenarios, ""].join(
    "\n",
  );
}

/** The events of each turn: a call of a tool ends a turn if something follows it. */
function turnsOf(items: readonly ShownItem[]): string[][] {
  const turns: string[][] = [[]];
  let hasCalled = false;
  for (const item of items) {
    const lines = linesOf(item);
    const isCall = lines.some((line) => /^(custom_)?call:/.test(line));
    if (hasCalled && !isCall && lines.length > 0) turns.push([]);
    if (lines.length > 0) hasCalled = isCall;
    turns.at(-1)?.push(...lines);
  }
  return turns;
}

function linesOf(item: ShownItem): string[] {
  const call = (name: string, args: unknown, more: Members = {}): string[] => [
    `call: ${JSON.stringify({ name, arguments: args, ...more })}`,
  ];
  const text = (value: string, word = "text"): string[] => (value === "" ? [] : [`${word}: ${JSON.stringify(value)}`]);
  switch (item.type) {
    case "message":
      return listAt(item, "content").flatMap((part) => [
        ...text(textAt(part, "text")),
        ...text(textAt(part, "refusal"), "refusal"),
        ...listAt(part, "annotations").map((annotation) => `annotation: ${JSON.stringify(annotation)}`),
      ]);
    case "reasoning": {
      const summary = listAt(item, "summary").map((part) => textAt(part, "text"));
      if (summary.length > 0) return [`reasoning_summary: ${JSON.stringify(summary)}`];
      return listAt(item, "content").flatMap((part) => text(textAt(part, "text"), "reasoning"));
    }
    case "function_call":
      return call(textAt(item, "name"), argumentsOf(item), { call_id: textAt(item, "call_id") });
    case "custom_tool_call":
      return [
        `custom_call: ${JSON.stringify({ name: textAt(item, "name"), input: textAt(item, "input"), call_id: textAt(item, "call_id") })}`,
      ];
    case "mcp_call":
      return call(textAt(item, "name"), argumentsOf(item), { namespace: textAt(item, "server_label") });
    case "web_search_call":
      return call("web_search", { query: textAt(membersAt(item, "action"), "query") });
    case "code_interpreter_call":
      return call("code_interpreter", { code: textAt(item, "code") });
    default:
      return [];
  }
}

function argumentsOf(item: ShownItem): unknown {
  return jsonOrUndefined(textAt(item, "arguments")) ?? textAt(item, "arguments");
}

function usageLine({ usage }: Response): string[] {
  if (usage === null) return [];
  const counts = {
    input_tokens: usage.input_tokens,
    cached_tokens: numberAt(usage.input_tokens_details, "cached_tokens") ?? 0,
    output_tokens: usage.output_tokens,
    reasoning_tokens: numberAt(usage.output_tokens_details, "reasoning_tokens") ?? 0,
  };
  return [`usage: ${JSON.stringify(counts)}`];
}

function finishLine({ status, incomplete_details: cut, error }: Response): string {
  if (status === "failed") return `error: ${JSON.stringify({ message: error?.message ?? "The model failed." })}`;
  if (status !== "incomplete") return "finish: stop";
  return cut?.reason === "content_filter" ? "finish: content_filter" : "finish: length";
}

/** The words of the user that the scenario waits for. */
function lastWords(input: readonly ShownItem[]): string {
  const message = input.findLast((item) => item.type === "message" && textAt(item, "role") === "user");
  const content = message?.["content"];
  if (typeof content === "string") return content;
  return (
    listAt(message, "content")
      .map((part) => textAt(part, "text"))
      .find((text) => text !== "") ?? ""
  );
}

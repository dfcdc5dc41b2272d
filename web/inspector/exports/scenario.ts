import type { Response } from "../../../packages/client/src/index.ts";
import { listAt, numberAt, textAt } from "../base/members.ts";
import { asShownItem, type ShownItem } from "../items/fold-events.ts";
import { eventsOf, isRunByServer } from "./scenario-events.ts";

/** What the model said in one turn, and how many outputs of tools it had seen since the last message. */
interface Turn {
  readonly items: readonly ShownItem[];
  readonly outputsSeen: number;
}

/**
 * A scenario file that makes the built-in engine answer as this run did. YAML accepts JSON, so texts are written as
 * JSON.
 */
export function scenarioFile(response: Response, input: readonly ShownItem[]): string {
  const output = response.output.flatMap((item) => asShownItem(item) ?? []);
  const turns = turnsOf(output, outputsAtEnd(input));
  const said = lastWords(input);
  const scenarios = turns.map(({ items, outputsSeen }, index) => {
    const isLast = index === turns.length - 1;
    const when = [
      ...(said === "" ? [] : [`input_contains: ${JSON.stringify(said)}`]),
      ...conditionOn(outputsSeen, turns.length),
    ];
    const end = isLast
      ? [...usageLine(response), finishLine(response)]
      : ["usage: {input_tokens: 0, output_tokens: 0}"];
    return [
      when.length === 0 ? "  - when: {}" : `  - when: { ${when.join(", ")} }`,
      "    events:",
      ...[...linesOf(items, output), ...end].map((line) => `      - ${line}`),
    ].join("\n");
  });
  return [`models: [${JSON.stringify(response.model)}]`, "fallback: planner", "", "scenarios:", ...scenarios, ""].join(
    "\n",
  );
}

/** A turn ends with each call that the server runs, because it then asks the model again. */
function turnsOf(items: readonly ShownItem[], outputsBefore: number): Turn[] {
  const turns: Turn[] = [];
  let [current, seen]: [ShownItem[], number] = [[], outputsBefore];
  for (const item of items) {
    if (eventsOf(item, items).length === 0) continue;
    current.push(item);
    if (!isRunByServer(item, items)) continue;
    turns.push({ items: current, outputsSeen: seen });
    seen = current.some(({ type }) => type === "message") ? 1 : seen + 1;
    current = [];
  }
  return [...turns, { items: current, outputsSeen: seen }];
}

/** A single turn needs no count, which earlier responses of a chain may change. */
function conditionOn(outputsSeen: number, turns: number): string[] {
  if (turns > 1) return [`tool_outputs: ${outputsSeen}`];
  return outputsSeen === 0 ? [] : ["has_tool_output: true"];
}

function linesOf(items: readonly ShownItem[], all: readonly ShownItem[]): string[] {
  return items.flatMap((item, index) => {
    const isAnother = items.slice(0, index).some(({ type }) => type === "message");
    const phase = textAt(item, "phase");
    const begins = item.type === "message" && (isAnother || phase !== "");
    return [...(begins ? [`message: ${JSON.stringify(phase === "" ? {} : { phase })}`] : []), ...eventsOf(item, all)];
  });
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
  if (status === "failed")
    return `error: ${JSON.stringify({ message: error?.message ?? "The model failed.", ...(error == null ? {} : { code: error.code }) })}`;
  if (status !== "incomplete") return "finish: stop";
  return cut?.reason === "content_filter" ? "finish: content_filter" : "finish: length";
}

/** How many outputs of tools stand at the end of the input, after its last message. */
function outputsAtEnd(input: readonly ShownItem[]): number {
  const last = input.findLastIndex(({ type }) => type === "message");
  return input.slice(last + 1).filter(({ type }) => type.endsWith("_output")).length;
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

import { COMPLETED, type ExampleEvent, PREFIX } from "./example-events.fixture.ts";

export function numbered(events: readonly object[], first = 0) {
  return events.map((event, index) => ({ type: "", ...event, sequence_number: first + index }));
}

export function framed(events: readonly { readonly type: string }[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

/**
 * Matches a stream with this block and any number of deltas. Items of another kind, such as reasoning, may come first.
 */
export function streamPattern(block: readonly ExampleEvent[], prefix: readonly ExampleEvent[] = PREFIX): string {
  const anything = "(event: response\\.[a-z_.]+\\ndata: \\{.*\\}\\n\\n)*";
  return `^${framePatterns(prefix)}${anything}${framePatterns([...block, COMPLETED])}$`;
}

/** Matches exactly these events, with any number of deltas. */
export function framePatterns(events: readonly ExampleEvent[]): string {
  return events.map(framePattern).join("");
}

function framePattern({ type }: ExampleEvent): string {
  const name = type.replaceAll(".", "\\.");
  return `(event: ${name}\\ndata: \\{.*"type":"${name}".*\\}\\n\\n)${type.endsWith(".delta") ? "+" : ""}`;
}

/** The same frames with the id lines that only /events sends. */
export function framedWithIds(events: readonly { readonly type: string; readonly sequence_number: number }[]): string {
  return events.map((event) => framed([event]).replace("\n", `\nid: ${event.sequence_number}\n`)).join("");
}

/** A pattern of frames for the same frames with id lines. */
export function patternWithIds(pattern: string): string {
  return pattern.replaceAll("\\ndata: ", "\\nid: [0-9]+\\ndata: ");
}

/** Returns the events without padding, as a replay sends them. */
export function unpadded(events: readonly ExampleEvent[]): object[] {
  return events.map((event) => Object.fromEntries(Object.entries(event).filter(([name]) => name !== "obfuscation")));
}

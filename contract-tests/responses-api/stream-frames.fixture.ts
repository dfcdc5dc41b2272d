import { COMPLETED, type ExampleEvent, PREFIX } from "./example-events.fixture.ts";

export function numbered(events: readonly object[], first = 0) {
  return events.map((event, index) => ({ type: "", ...event, sequence_number: first + index }));
}

export function framed(events: readonly { readonly type: string }[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

/**
 * Beginning and end of a stream around a block, whose deltas may be many. Items of another kind, such as reasoning, may
 * come before it.
 */
export function streamPattern(block: readonly ExampleEvent[], prefix: readonly ExampleEvent[] = PREFIX): string {
  const anything = "(event: response\\.[a-z_.]+\\ndata: \\{.*\\}\\n\\n)*";
  return `^${framePatterns(prefix)}${anything}${framePatterns([...block, COMPLETED])}$`;
}

/** These events and no other, but for deltas, which may be many. */
export function framePatterns(events: readonly ExampleEvent[]): string {
  return events.map(framePattern).join("");
}

function framePattern({ type }: ExampleEvent): string {
  const name = type.replaceAll(".", "\\.");
  return `(event: ${name}\\ndata: \\{.*"type":"${name}".*\\}\\n\\n)${type.endsWith(".delta") ? "+" : ""}`;
}

/** Without padding, as events are read again. */
export function unpadded(events: readonly ExampleEvent[]): object[] {
  return events.map((event) => Object.fromEntries(Object.entries(event).filter(([name]) => name !== "obfuscation")));
}

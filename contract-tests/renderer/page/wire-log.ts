import { createParser } from "eventsource-parser";

/** One line for each request, event and end of a stream. */
const lines: string[] = [];
let shown: readonly string[] = [];
const watchers = new Set<() => void>();

/** A `fetch` that also logs every request, event and end of a stream. The page and the log read the same bytes. */
export const loggedFetch: typeof fetch = async (url, init) => {
  const { method, url: address } = new Request(url, init);
  write(`${method} ${new URL(address).pathname.replace(/^.*(?=[/]v1[/])/, "")}`);
  const reply = await fetch(url, init);
  write(`${reply.status} ${reply.headers.get("content-type")}`);
  if (reply.body === null) return reply;
  const [ours, theirs] = reply.body.tee();
  void readEvents(ours);
  return new Response(theirs, reply);
};

export function watchLines(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

export function shownLines(): readonly string[] {
  return shown;
}

async function readEvents(bytes: ReadableStream<BufferSource>): Promise<void> {
  const parser = createParser({ onEvent: ({ event, data }) => write(describeEvent(event, data)) });
  for await (const text of bytes.pipeThrough(new TextDecoderStream())) parser.feed(text);
  write("end of the stream");
}

function write(line: string): void {
  lines.push(line);
  shown = [...lines];
  for (const watcher of watchers) watcher();
}

/** Prints the event's name, then its members in alphabetical order. Objects show only their members' names. */
function describeEvent(name: string | undefined, data: string): string {
  const event: unknown = JSON.parse(data);
  return `${name}: ${describeMembers(event, describeNames)}`;
}

function describeMembers(value: unknown, describe: (member: unknown) => string): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return members.map(([key, member]) => `${key} ${describe(member)}`).join(", ");
}

function describeNames(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(describeNames).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{${describeMembers(value, describeKind)}}`;
}

function describeKind(value: unknown): string {
  if (Array.isArray(value)) return `[${value.length}]`;
  if (typeof value === "object" && value !== null) return `{${Object.keys(value).toSorted().join(" ")}}`;
  return JSON.stringify(value);
}

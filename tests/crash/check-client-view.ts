import type { ResponseStreamEvent } from "@antiphon/contracts/responses-api/types.ts";
import { expect } from "vitest";
import { ResponseFold } from "../../src/runs/index.ts";
import type { ChildServer } from "../kit/child-server.ts";
import { dataLines } from "../kit/event-stream.ts";
import { readResponse } from "../responses/read-stream.ts";
import type { ClientView } from "./client.ts";

const TERMINAL = new Set(["response.completed", "response.incomplete", "response.failed"]);

/** What the kills must have interrupted; otherwise the test has shown nothing. */
export type Seen = Record<"completed" | "failed" | "begun again" | "in a conversation", number>;

export function nothingSeen(): Seen {
  return { completed: 0, failed: 0, "begun again": 0, "in a conversation": 0 };
}

export async function conversationOf(server: ChildServer): Promise<string> {
  const created: unknown = await (await server.post("/v1/conversations", {})).json();
  return /"id":"(conv_[0-9a-f]+)"/.exec(JSON.stringify(created))?.[1] ?? "";
}

/** Everything that a client saw is unchanged, the rest follows it, and there is one end. */
export async function checkClientView(
  server: ChildServer,
  { kind, id, events }: ClientView,
  seen: Seen,
): Promise<void> {
  if (id === null) return;
  const path = `/v1/responses/${id}`;
  const all = dataLines(await (await server.fetch(`${path}/events?dialect=reference`)).text());
  expect(all.slice(0, events.length), kind).toEqual(events);
  const rest = dataLines(await (await server.fetch(restPath(path, events.length))).text());
  expect(rest, kind).toEqual(all.slice(events.length));
  const parsed = all.map((line): ResponseStreamEvent => JSON.parse(line));
  expect(parsed.map((event) => event.sequence_number)).toEqual(all.map((_, index) => index));
  expect(parsed.flatMap(({ type }, index) => (TERMINAL.has(type) ? [index] : []))).toEqual([all.length - 1]);
  const response = await readResponse(await server.fetch(path));
  const fold = new ResponseFold();
  for (const event of parsed) fold.apply(event);
  const { billing: _billing, ...stored } = response;
  expect(fold.response).toEqual(stored);
  if (response.status === "failed") {
    seen.failed += 1;
    expect(response.error?.code).toBe("server_error");
  } else {
    expect(response.status).toBe("completed");
    seen.completed += 1;
    if (kind === "background stream" && events.length <= 3) seen["begun again"] += 1;
    if (kind === "conversation") seen["in a conversation"] += 1;
  }
  checkClosed(parsed);
}

function restPath(path: string, count: number): string {
  return `${path}/events?dialect=reference${count === 0 ? "" : `&starting_after=${count - 1}`}`;
}

/** Every announced item also has its done event. */
function checkClosed(events: readonly ResponseStreamEvent[]): void {
  const added = events.flatMap((event) => (event.type === "response.output_item.added" ? [event.item.id] : []));
  const done = events.flatMap((event) => (event.type === "response.output_item.done" ? [event.item.id] : []));
  expect(done).toEqual(added);
}

/** A conversation holds both items of each completed response, next to each other, and nothing of other responses. */
export async function checkConversation(server: ChildServer, conversation: string): Promise<void> {
  const items: { readonly id: string; readonly role: string }[] = [];
  for (let after = ""; ; ) {
    const reply = await server.fetch(`/v1/conversations/${conversation}/items?order=asc&limit=100${after}`);
    const page: { data: { id: string; role: string }[]; has_more: boolean; last_id: string } = await reply.json();
    items.push(...page.data);
    if (!page.has_more) break;
    after = `&after=${page.last_id}`;
  }
  expect(new Set(items.map(({ id }) => id)).size).toBe(items.length);
  expect(items.map(({ role }) => role)).toEqual(items.map((_, index) => (index % 2 === 0 ? "user" : "assistant")));
}

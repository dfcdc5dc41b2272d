import type { Antiphon } from "../../../src/client/index.ts";
import { listAt, type Members, textAt } from "../base/members.ts";
import { withoutServerMembers } from "../exports/request-of.ts";
import { asShownItem, type ShownItem } from "../items/fold-events.ts";
import { type Draft, draftOf } from "./draft.ts";

/** Where a fork begins. */
export interface Seed {
  readonly draft: Draft;
  /** The stored response that the fork continues; null if it begins anew. */
  readonly previousId: string | null;
  /** What is sent before the message. */
  readonly items: readonly Members[];
  /** The last words of the user, to change them. */
  readonly text: string;
}

const ITEMS_MAX = 100;

/** Reads a run up to an item, or up to its input if there is none, so that it can be run again from there. */
export async function readSeed(
  client: Antiphon,
  { from, item, signal }: { from: string; item: string | null; signal: AbortSignal },
): Promise<Seed> {
  const [response, { data }] = await Promise.all([
    client.getResponse(from, {}, { signal }),
    client.listInputItems(from, { limit: ITEMS_MAX, order: "asc" }, { signal }),
  ]);
  const input = data.flatMap((stored) => asShownItem(stored) ?? []);
  const all = [...input, ...response.output.flatMap((made) => asShownItem(made) ?? [])];
  const end = item === null ? -1 : all.findIndex((known) => textAt(known, "id") === item);
  const kept = end === -1 ? input : all.slice(0, end + 1);
  const { items, text } = end === -1 ? withoutLastWords(kept) : { items: kept, text: "" };
  const draft = draftOf(response);
  return { draft, previousId: response.previous_response_id, items: items.map(withoutServerMembers), text };
}

/** Takes a last message that is only text out of the items, because people change it most. */
function withoutLastWords(items: readonly ShownItem[]): { items: readonly ShownItem[]; text: string } {
  const last = items.at(-1);
  const parts = listAt(last, "content");
  const isText = textAt(last, "role") === "user" && parts.every((part) => textAt(part, "type") === "input_text");
  if (!isText || parts.length === 0) return { items, text: "" };
  return { items: items.slice(0, -1), text: parts.map((part) => textAt(part, "text")).join("\n") };
}

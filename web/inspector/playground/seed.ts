import type { Antiphon, Response, StoredItem } from "../../../packages/client/src/index.ts";
import { readInputItems } from "../api/input-items.ts";
import { isNotFound } from "../api/use-call.ts";
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

const PAGE_SIZE = 100;
/** Items of a conversation that are looked through for those before the run. */
const CONVERSATION_ITEMS_MAX = 2_000;

/** Reads a run up to an item, or up to its input if there is none, so that it can be run again from there. */
export async function readSeed(
  client: Antiphon,
  { from, item, signal }: { from: string; item: string | null; signal: AbortSignal },
): Promise<Seed> {
  const [response, stored] = await Promise.all([
    client.getResponse(from, {}, { signal }),
    readInputItems(client, from, signal),
  ]);
  const own = stored.flatMap((sent) => asShownItem(sent) ?? []);
  const input = [...(await readSeenBefore(client, response, { own, signal })), ...own];
  const all = [...input, ...response.output.flatMap((made) => asShownItem(made) ?? [])];
  const end = item === null ? -1 : all.findIndex((known) => textAt(known, "id") === item);
  const kept = end === -1 ? input : all.slice(0, end + 1);
  const { items, text } = end === -1 ? withoutLastWords(kept) : { items: kept, text: "" };
  const draft = draftOf(response);
  return { draft, previousId: response.previous_response_id, items: items.map(withoutServerMembers), text };
}

/**
 * What a run of a conversation saw before its own items. A fork sends it again, because it does not belong to the
 * conversation. Nothing if the conversation was deleted.
 */
async function readSeenBefore(
  client: Antiphon,
  response: Response,
  { own, signal }: { own: readonly ShownItem[]; signal: AbortSignal },
): Promise<ShownItem[]> {
  const conversation = response.conversation?.id;
  if (conversation === undefined) return [];
  const ids = new Set([...own, ...response.output].map((item) => textAt(item, "id")));
  const seen: ShownItem[] = [];
  let after: string | undefined;
  while (seen.length < CONVERSATION_ITEMS_MAX) {
    const query = { limit: PAGE_SIZE, order: "asc", ...(after === undefined ? {} : { after }) } as const;
    const page = await client.listConversationItems(conversation, query, { signal }).catch(nothingIfDeleted);
    for (const item of page.data) {
      if (ids.has(textAt(item, "id"))) return seen;
      const shown = asShownItem(item);
      if (shown !== null) seen.push(shown);
    }
    after = page.data.at(-1)?.id;
    if (!page.has_more || after === undefined) break;
  }
  return seen;
}

function nothingIfDeleted(error: unknown): { data: StoredItem[]; has_more: boolean } {
  if (isNotFound(error)) return { data: [], has_more: false };
  throw error;
}

/** Takes a last message that is only text out of the items, because people change it most. */
function withoutLastWords(items: readonly ShownItem[]): { items: readonly ShownItem[]; text: string } {
  const last = items.at(-1);
  const parts = listAt(last, "content");
  const isText = textAt(last, "role") === "user" && parts.every((part) => textAt(part, "type") === "input_text");
  if (!isText || parts.length === 0) return { items, text: "" };
  return { items: items.slice(0, -1), text: parts.map((part) => textAt(part, "text")).join("\n") };
}

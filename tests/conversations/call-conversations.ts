import type { Conversation, ItemList, StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import { validateConversation } from "@antiphon/contracts/responses-api/validators.js";
import { expect } from "vitest";
import type { TestServer } from "../kit/test-server.ts";
import { readItemList } from "../responses/read-item-list.ts";

/** Calls on conversations. Every reply is checked against the contract. */
export interface ConversationCalls {
  create(body?: object): Promise<Conversation>;
  add(id: string, items: readonly object[]): Promise<ItemList>;
  list(id: string, query?: string): Promise<ItemList>;
  /** Every item, oldest first, fetched page by page. */
  walk(id: string, limit?: number): Promise<readonly StoredItem[]>;
  /** The texts of every item, oldest first. */
  texts(id: string): Promise<readonly string[]>;
}

type Post = Pick<TestServer, "fetch" | "post">;

export function conversationCalls(server: Post): ConversationCalls {
  const list = async (id: string, query = ""): Promise<ItemList> =>
    readItemList(await server.fetch(`/v1/conversations/${id}/items${query}`));
  const walk = async (id: string, limit = 100): Promise<readonly StoredItem[]> => {
    const items: StoredItem[] = [];
    for (let after = ""; ; ) {
      const page = await list(id, `?order=asc&limit=${limit}${after}`);
      items.push(...page.data);
      if (!page.has_more) return items;
      after = `&after=${page.last_id}`;
    }
  };
  return {
    create: async (body = {}) => conversation(await server.post("/v1/conversations", body)),
    add: async (id, items) => readItemList(await server.post(`/v1/conversations/${id}/items`, { items })),
    list,
    walk,
    texts: async (id) => (await walk(id)).map(textOf),
  };
}

/** The conversation in a reply. */
export async function conversation(reply: Response): Promise<Conversation> {
  const body: unknown = await reply.json();
  expect(reply.status, JSON.stringify(body)).toBe(200);
  if (!validateConversation(body)) throw new Error(`not a conversation: ${JSON.stringify(body)}`);
  expect(Object.keys(body)).toEqual(["id", "object", "created_at", "metadata"]);
  return body;
}

/** The text of an item, or its type if it has no text. */
export function textOf(item: StoredItem): string {
  if (item.type !== "message") return item.type;
  return item.content.map((part) => ("text" in part ? part.text : part.type)).join(" ");
}

export function user(text: string, members: object = {}): object {
  return { type: "message", role: "user", content: text, ...members };
}

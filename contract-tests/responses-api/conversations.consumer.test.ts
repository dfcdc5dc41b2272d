import { MatchersV3 } from "@pact-foundation/pact";
import { describe, expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { shapeOf } from "../shape.fixture.ts";
import { checkInteraction } from "./interaction.fixture.ts";
import { checkRefusal } from "./refusal.fixture.ts";

const { equal, fromProviderState } = MatchersV3;

const CONVERSATION_ID = "conv_6700000101234567890123456789012345678901234567ab";
const UNKNOWN_ID = "conv_000000000000000000000000000000000000000000000000";
const CONVERSATION = {
  id: CONVERSATION_ID,
  object: "conversation",
  created_at: 1_728_053_249,
  metadata: { topic: "demo" },
} as const;
const conversationShape = { ...Object(shapeOf(CONVERSATION)), metadata: equal({ topic: "demo" }) };

const path = fromProviderState("/v1/conversations/${conversation_id}", `/v1/conversations/${CONVERSATION_ID}`);
const itemsPath = fromProviderState(
  "/v1/conversations/${conversation_id}/items",
  `/v1/conversations/${CONVERSATION_ID}/items`,
);
const itemPath = fromProviderState(
  "/v1/conversations/${conversation_id}/items/${first_item_id}",
  `/v1/conversations/${CONVERSATION_ID}/items/${itemId("one")}`,
);
const given = ["a conversation of two messages"] as const;

function itemId(text: string): string {
  return `msg_0123456789abcdef006700000001${text}`;
}

function item(text: string) {
  const content = [{ type: "input_text" as const, text }];
  return { id: itemId(text), type: "message" as const, status: "completed" as const, content, role: "user" as const };
}

function listOf(texts: readonly string[]) {
  const data = texts.map(item);
  const ends = { first_id: itemId(texts.at(0) ?? ""), last_id: itemId(texts.at(-1) ?? "") };
  const list = { object: "list", data, first_id: ends.first_id, has_more: false, last_id: ends.last_id } as const;
  const shape = { ...Object(shapeOf({ ...list, data: [] })), data: texts.map(itemShape) };
  return { list, shape };
}

function itemShape(text: string): unknown {
  return shapeOf({ ...item(text), content: equal([{ type: "input_text", text }]) });
}

describe("a client that keeps a conversation", () => {
  test("makes one", async () => {
    verifies("conversations.operations.all-eight", "contract.parity.same-checks-both-providers");
    const body = { metadata: { topic: "demo" } };
    await checkInteraction(
      {
        request: "to make a conversation",
        method: "POST",
        path: "/v1/conversations",
        body,
        reply: { json: conversationShape },
      },
      {
        official: async (client) => expect(await client.conversations.create(body)).toEqual(CONVERSATION),
        own: async (client) => expect(await client.createConversation(body)).toEqual(CONVERSATION),
      },
    );
  });

  test("reads it", async () => {
    await checkInteraction(
      { given, request: "for a conversation", method: "GET", path, reply: { json: conversationShape } },
      {
        official: async (client) => expect(await client.conversations.retrieve(CONVERSATION_ID)).toEqual(CONVERSATION),
        own: async (client) => expect(await client.getConversation(CONVERSATION_ID)).toEqual(CONVERSATION),
      },
    );
  });

  test("gives it other metadata", async () => {
    verifies("conversations.update.replaces-metadata");
    const body = { metadata: { topic: "demo" } };
    await checkInteraction(
      {
        given,
        request: "to replace the metadata of a conversation",
        method: "POST",
        path,
        body,
        reply: { json: conversationShape },
      },
      {
        official: async (client) =>
          expect(await client.conversations.update(CONVERSATION_ID, body)).toEqual(CONVERSATION),
        own: async (client) => expect(await client.updateConversation(CONVERSATION_ID, body)).toEqual(CONVERSATION),
      },
    );
  });

  test("removes it", async () => {
    verifies("conversations.delete.answers-deleted");
    const deleted = { id: CONVERSATION_ID, object: "conversation.deleted", deleted: true } as const;
    await checkInteraction(
      { given, request: "to remove a conversation", method: "DELETE", path, reply: { json: shapeOf(deleted) } },
      {
        official: async (client) => expect(await client.conversations.delete(CONVERSATION_ID)).toEqual(deleted),
        own: async (client) => expect(await client.deleteConversation(CONVERSATION_ID)).toEqual(deleted),
      },
    );
  });

  test("gets 404 for one that is not there", async () => {
    await checkRefusal(
      { request: "for an unknown conversation", method: "GET", path: `/v1/conversations/${UNKNOWN_ID}` },
      { status: 404, param: null, message: `Conversation with id '${UNKNOWN_ID}' not found.` },
      {
        official: (client) => client.conversations.retrieve(UNKNOWN_ID),
        own: (client) => client.getConversation(UNKNOWN_ID),
      },
    );
  });
});

describe("a client that works on the items of a conversation", () => {
  test("adds some, and gets these", async () => {
    verifies("conversations.items.append");
    const items = ["three", "four"].map((content) => ({ role: "user" as const, content }));
    const { list, shape } = listOf(["three", "four"]);
    await checkInteraction(
      {
        given,
        request: "to add items to a conversation",
        method: "POST",
        path: itemsPath,
        body: { items },
        reply: { json: shape },
      },
      {
        official: async (client) =>
          expect(await client.conversations.items.create(CONVERSATION_ID, { items })).toMatchObject(list),
        own: async (client) => expect(await client.createConversationItems(CONVERSATION_ID, { items })).toEqual(list),
      },
    );
  });

  test("lists them, newest first", async () => {
    verifies("conversations.items.list");
    const { list, shape } = listOf(["two", "one"]);
    await checkInteraction(
      { given, request: "for the items of a conversation", method: "GET", path: itemsPath, reply: { json: shape } },
      {
        official: async (client) =>
          expect((await client.conversations.items.list(CONVERSATION_ID)).data).toEqual(list.data),
        own: async (client) => expect(await client.listConversationItems(CONVERSATION_ID)).toEqual(list),
      },
    );
  });

  test("reads one", async () => {
    verifies("conversations.items.get-one");
    await checkInteraction(
      {
        given,
        request: "for an item of a conversation",
        method: "GET",
        path: itemPath,
        reply: { json: itemShape("one") },
      },
      {
        official: async (client) =>
          expect(
            await client.conversations.items.retrieve(itemId("one"), { conversation_id: CONVERSATION_ID }),
          ).toEqual(item("one")),
        own: async (client) =>
          expect(await client.getConversationItem(CONVERSATION_ID, itemId("one"))).toEqual(item("one")),
      },
    );
  });

  test("removes one, and gets the conversation", async () => {
    verifies("conversations.items.delete-one");
    await checkInteraction(
      {
        given,
        request: "to remove an item of a conversation",
        method: "DELETE",
        path: itemPath,
        reply: { json: conversationShape },
      },
      {
        official: async (client) =>
          expect(await client.conversations.items.delete(itemId("one"), { conversation_id: CONVERSATION_ID })).toEqual(
            CONVERSATION,
          ),
        own: async (client) =>
          expect(await client.deleteConversationItem(CONVERSATION_ID, itemId("one"))).toEqual(CONVERSATION),
      },
    );
  });
});

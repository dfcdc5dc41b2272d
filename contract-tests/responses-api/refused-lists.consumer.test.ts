import { MatchersV3 } from "@pact-foundation/pact";
import type OpenAI from "openai";
import { describe, test } from "vitest";
import type { Antiphon } from "../../packages/client/src/index.ts";
import { verifies } from "../../tests/verifies.ts";
import { RESPONSE_ID } from "./example-response.fixture.ts";
import type { Interaction } from "./interaction.fixture.ts";
import { checkRefusal, type Refusal } from "./refusal.fixture.ts";

const { fromProviderState, string } = MatchersV3;
const CONVERSATION_ID = "conv_6700000101234567890123456789012345678901234567ab";
const UNKNOWN_ITEM_ID = "msg_ffffffffffffffffffffffffffffffffffffffffffffffff";
const path = fromProviderState("/v1/conversations/${conversation_id}", `/v1/conversations/${CONVERSATION_ID}`);
const itemsPath = fromProviderState(
  "/v1/conversations/${conversation_id}/items",
  `/v1/conversations/${CONVERSATION_ID}/items`,
);
const itemPath = fromProviderState(
  `/v1/conversations/\${conversation_id}/items/${UNKNOWN_ITEM_ID}`,
  `/v1/conversations/${CONVERSATION_ID}/items/${UNKNOWN_ITEM_ID}`,
);
const inputItemsPath = fromProviderState(
  "/v1/responses/${response_id}/input_items",
  `/v1/responses/${RESPONSE_ID}/input_items`,
);
const given = ["a conversation of two messages"] as const;
const CONVERSATION = { conversation_id: CONVERSATION_ID };

interface Case extends Omit<Interaction, "reply" | "request"> {
  readonly refusal: Omit<Refusal, "status"> & { readonly status?: number };
  readonly official: (client: OpenAI) => PromiseLike<unknown>;
  readonly own?: (client: Antiphon) => PromiseLike<unknown>;
}

type Cases = Readonly<Record<string, Case>>;

const messages = (count: number) => Array.from({ length: count }, () => ({ role: "user" as const, content: "Hi" }));

const ITEMS: Cases = {
  "to add no items to a conversation": {
    given: [...given, "our own server"],
    method: "POST",
    path: itemsPath,
    body: { items: [] },
    refusal: { code: "array_below_min_length", param: "items", message: string("Invalid 'items': array too short.") },
    official: (client) => client.conversations.items.create(CONVERSATION_ID, { items: [] }),
    own: (client) => client.createConversationItems(CONVERSATION_ID, { items: [] }),
  },
  "to add too many items to a conversation": {
    given: [...given, "our own server"],
    method: "POST",
    path: itemsPath,
    body: { items: messages(21) },
    refusal: { code: "array_above_max_length", param: "items", message: string("Invalid 'items': array too long.") },
    official: (client) => client.conversations.items.create(CONVERSATION_ID, { items: messages(21) }),
    own: (client) => client.createConversationItems(CONVERSATION_ID, { items: messages(21) }),
  },
  "for an unknown item of a conversation": {
    given,
    method: "GET",
    path: itemPath,
    refusal: { status: 404, param: null, message: `Item with id '${UNKNOWN_ITEM_ID}' not found in conversation.` },
    official: (client) => client.conversations.items.retrieve(UNKNOWN_ITEM_ID, CONVERSATION),
    own: (client) => client.getConversationItem(CONVERSATION_ID, UNKNOWN_ITEM_ID),
  },
  "to remove an unknown item of a conversation": {
    given,
    method: "DELETE",
    path: itemPath,
    refusal: { status: 404, param: null, message: `Item with id '${UNKNOWN_ITEM_ID}' not found in conversation.` },
    official: (client) => client.conversations.items.delete(UNKNOWN_ITEM_ID, CONVERSATION),
    own: (client) => client.deleteConversationItem(CONVERSATION_ID, UNKNOWN_ITEM_ID),
  },
};

const LISTS: Cases = {
  "for too large a page of a conversation": {
    given,
    method: "GET",
    path: itemsPath,
    query: { limit: "1000" },
    refusal: {
      code: "integer_above_max_value",
      param: "limit",
      message: "Invalid 'limit': integer above maximum value. Expected a value <= 100, but got 1000 instead.",
    },
    official: (client) => client.conversations.items.list(CONVERSATION_ID, { limit: 1000 }),
    own: (client) => client.listConversationItems(CONVERSATION_ID, { limit: 1000 }),
  },
  "for too small a page of input items": {
    given: ["a stored response"],
    method: "GET",
    path: inputItemsPath,
    query: { limit: "0" },
    refusal: {
      code: "integer_below_min_value",
      param: "limit",
      message: "Invalid 'limit': integer below minimum value. Expected a value >= 1, but got 0 instead.",
    },
    official: (client) => client.responses.inputItems.list(RESPONSE_ID, { limit: 0 }),
    own: (client) => client.listInputItems(RESPONSE_ID, { limit: 0 }),
  },
  "for input items in no order": {
    given: ["a stored response"],
    method: "GET",
    path: inputItemsPath,
    query: { order: "up" },
    refusal: {
      code: "invalid_value",
      param: "order",
      message: "Invalid value: 'up'. Supported values are: 'asc' and 'desc'.",
    },
    official: (client) => client.get(`/responses/${RESPONSE_ID}/input_items`, { query: { order: "up" } }),
  },
};

const CONVERSATIONS: Cases = {
  "to give a conversation no metadata": {
    given,
    method: "POST",
    path,
    body: {},
    refusal: {
      code: "missing_required_parameter",
      param: "metadata",
      message: "Missing required parameter: 'metadata'.",
    },
    official: (client) => client.post(`/conversations/${CONVERSATION_ID}`, { body: {} }),
  },
  "for a deleted conversation": {
    given: ["a deleted conversation"],
    method: "GET",
    path,
    refusal: { status: 404, param: null, message: string(`Conversation with id '${CONVERSATION_ID}' not found.`) },
    official: (client) => client.conversations.retrieve(CONVERSATION_ID),
    own: (client) => client.getConversation(CONVERSATION_ID),
  },
  "to remove a conversation again": {
    given: ["a deleted conversation"],
    method: "DELETE",
    path,
    refusal: { status: 404, param: null, message: string(`Conversation with id '${CONVERSATION_ID}' not found.`) },
    official: (client) => client.conversations.delete(CONVERSATION_ID),
    own: (client) => client.deleteConversation(CONVERSATION_ID),
  },
};

const LOCKED = {
  code: "conversation_locked",
  param: "conversation",
  message: "Another process is currently operating on this conversation. Please retry in a few seconds.",
} as const;

const BUSY: Cases = {
  "that goes on in a conversation that is being answered": {
    given: ["a chat model", "a conversation that is being answered"],
    method: "POST",
    path: "/v1/responses",
    body: {
      model: fromProviderState("${model}", "example-model"),
      input: "Hi",
      conversation: fromProviderState("${conversation_id}", CONVERSATION_ID),
    },
    refusal: LOCKED,
    official: (client) =>
      client.responses.create({ model: "example-model", input: "Hi", conversation: CONVERSATION_ID }),
    own: (client) => client.createResponse({ model: "example-model", input: "Hi", conversation: CONVERSATION_ID }),
  },
  "to add items to a conversation that is being answered": {
    given: ["a conversation that is being answered", "our own server"],
    method: "POST",
    path: itemsPath,
    body: { items: messages(1) },
    refusal: LOCKED,
    official: (client) => client.conversations.items.create(CONVERSATION_ID, { items: messages(1) }),
    own: (client) => client.createConversationItems(CONVERSATION_ID, { items: messages(1) }),
  },
};

describe("a client of conversations and lists is refused", () => {
  describe("its items:", () => {
    verifies("contract.parity.same-checks-both-providers", "errors.catalogue.unknown-conversation-item-is-404");
    test.each(Object.entries(ITEMS))("a request %s", check);
  });

  describe("its pages:", () => {
    verifies("lists.query.limit-bounds");
    test.each(Object.entries(LISTS))("a request %s", check);
  });

  describe("its conversations:", () => {
    verifies("errors.catalogue.unknown-conversation-is-404");
    test.each(Object.entries(CONVERSATIONS))("a request %s", check);
  });

  describe("while another writes:", () => {
    verifies("errors.catalogue.conversation-locked");
    test.each(Object.entries(BUSY))("a request %s", check);
  });
});

async function check(request: string, { refusal, official, own, ...interaction }: Case): Promise<void> {
  const calls = { official, ...(own === undefined ? {} : { own }) };
  await checkRefusal({ ...interaction, request }, { status: 400, ...refusal }, calls);
}

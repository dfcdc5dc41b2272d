import { MatchersV3 } from "@pact-foundation/pact";
import { describe, expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { shapeOf } from "../shape.fixture.ts";
import { RESPONSE_ID } from "./example-response.fixture.ts";
import { checkInteraction } from "./interaction.fixture.ts";

const { equal, fromProviderState } = MatchersV3;
const path = fromProviderState("/v1/responses/${response_id}/input_items", `/v1/responses/${RESPONSE_ID}/input_items`);
const LIST = { given: ["a response made of three messages"], method: "GET", path } as const;

describe("a client that lists input items", () => {
  test("gets all of them, newest first", async () => {
    verifies(
      "contract.parity.same-checks-both-providers",
      "input-items.content.exactly-what-was-supplied",
      "input-items.content.normalised",
    );
    await check({ request: "for input items", texts: ["three", "two", "one"], hasMore: false });
  });

  test("gets them in the order it asks for", async () => {
    verifies("lists.query.order");
    await check({
      request: "for input items, oldest first",
      query: { order: "asc" },
      texts: ["one", "two", "three"],
      hasMore: false,
    });
  });

  test("gets a page, and learns that there are more", async () => {
    verifies("lists.envelope.members");
    await check({
      request: "for a page of input items",
      query: { limit: 2, order: "asc" },
      texts: ["one", "two"],
      hasMore: true,
    });
  });

  test("gets the page that follows an item", async () => {
    verifies("lists.query.after-is-exclusive");
    await check({
      request: "for a further page of input items",
      query: { limit: 2, order: "asc", after: itemId("two") },
      texts: ["three"],
      hasMore: false,
    });
  });
});

interface Page {
  readonly request: string;
  readonly query?: { readonly limit?: number; readonly order?: "asc" | "desc"; readonly after?: string };
  readonly texts: readonly string[];
  readonly hasMore: boolean;
}

/** Compares each item of a page at its index. */
async function check({ request, query = {}, texts, hasMore }: Page): Promise<void> {
  const { limit, order, after } = query;
  const first_id = itemId(texts.at(0) ?? "");
  const last_id = itemId(texts.at(-1) ?? "");
  const envelope = { object: "list", first_id, has_more: hasMore, last_id };
  await checkInteraction(
    {
      ...LIST,
      request,
      query: {
        ...(limit === undefined ? {} : { limit: String(limit) }),
        ...(order === undefined ? {} : { order }),
        ...(after === undefined ? {} : { after: fromProviderState("${second_item_id}", after) }),
      },
      reply: { json: { ...Object(shapeOf(envelope)), data: texts.map(itemShape) } },
    },
    {
      official: async (client) => {
        const page = await client.responses.inputItems.list(RESPONSE_ID, query);
        expect(page.data).toEqual(texts.map(item));
        expect(page.has_more).toBe(hasMore);
      },
      own: async (client) =>
        expect(await client.listInputItems(RESPONSE_ID, query)).toEqual({ ...envelope, data: texts.map(item) }),
    },
  );
}

function itemId(text: string): string {
  return `msg_0123456789abcdef006700000001${text}`;
}

function item(text: string): object {
  return {
    id: itemId(text),
    type: "message",
    status: "completed",
    content: [{ type: "input_text", text }],
    role: "user",
  };
}

function itemShape(text: string): unknown {
  return shapeOf({ ...item(text), content: equal([{ type: "input_text", text }]) });
}

import { MatchersV3 } from "@pact-foundation/pact";
import { describe, expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { shapeOf } from "../shape.fixture.ts";
import { messageSaying, RESPONSE_ID, responseShape } from "./example-response.fixture.ts";
import { checkInteraction } from "./interaction.fixture.ts";

const path = MatchersV3.fromProviderState("/v1/responses/${response_id}", `/v1/responses/${RESPONSE_ID}`);
const given = ["a stored response"] as const;

describe("a client of stored responses", () => {
  test("fetches one as it was created", async () => {
    verifies("contract.parity.same-checks-both-providers", "create.store.default-true");
    await checkInteraction(
      { given, request: "for a stored response", method: "GET", path, reply: { json: responseShape() } },
      {
        official: async (client) => {
          const response = await client.responses.retrieve(RESPONSE_ID);
          expect(response.id).toBe(RESPONSE_ID);
          expect(response.output_text).toBe("hello");
        },
        own: async (client) => {
          const response = await client.getResponse(RESPONSE_ID);
          expect(response.output).toEqual([messageSaying("hello")]);
        },
      },
    );
  });

  test("fetches one as JSON although it mentions streams", async () => {
    verifies("responses.get.stream-false-is-json");
    await checkInteraction(
      {
        given,
        request: "for a stored response, not streamed",
        method: "GET",
        path,
        query: { stream: "false" },
        reply: { json: responseShape() },
      },
      {
        official: async (client) =>
          expect((await client.responses.retrieve(RESPONSE_ID, { stream: false })).status).toBe("completed"),
        own: async (client) =>
          expect((await client.getResponse(RESPONSE_ID, { stream: false })).status).toBe("completed"),
      },
    );
  });

  test("deletes one", async () => {
    verifies("responses.delete.answers-deleted");
    const deleted = { id: RESPONSE_ID, object: "response.deleted", deleted: true };
    await checkInteraction(
      { given, request: "to delete a response", method: "DELETE", path, reply: { json: shapeOf(deleted) } },
      {
        official: async (client) => client.responses.delete(RESPONSE_ID),
        own: async (client) => expect(await client.deleteResponse(RESPONSE_ID)).toEqual(deleted),
      },
    );
  });
});

import { MatchersV3 } from "@pact-foundation/pact";
import { describe, expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { checkInteraction, EXAMPLE_MODEL } from "./interaction.fixture.ts";

const { eachLike, fromProviderState, integer, string } = MatchersV3;
const given = ["a chat model"] as const;
const MODEL = { id: EXAMPLE_MODEL, object: "model", created: 1_795_000_000, owned_by: "someone" };
const SHAPE = {
  id: string(MODEL.id),
  object: "model",
  created: integer(MODEL.created),
  owned_by: string(MODEL.owned_by),
};

describe("a client that looks for models", () => {
  test("lists them", async () => {
    verifies("contract.parity.same-checks-both-providers");
    await checkInteraction(
      {
        given,
        request: "for the models",
        method: "GET",
        path: "/v1/models",
        reply: { json: { object: "list", data: eachLike(SHAPE) } },
      },
      {
        official: async (client) => expect((await client.models.list()).data).toEqual([MODEL]),
        own: async (client) => expect((await client.listModels()).data).toEqual([MODEL]),
      },
    );
  });

  test("fetches one by its name", async () => {
    const path = fromProviderState("/v1/models/${model}", `/v1/models/${EXAMPLE_MODEL}`);
    await checkInteraction(
      { given, request: "for a model", method: "GET", path, reply: { json: SHAPE } },
      {
        official: async (client) => expect(await client.models.retrieve(EXAMPLE_MODEL)).toEqual(MODEL),
        own: async (client) => expect(await client.getModel(EXAMPLE_MODEL)).toEqual(MODEL),
      },
    );
  });
});

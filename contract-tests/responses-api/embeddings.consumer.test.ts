import { MatchersV3 } from "@pact-foundation/pact";
import { describe, expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { checkInteraction, EXAMPLE_MODEL, theModel } from "./interaction.fixture.ts";

const { eachLike, integer, number, regex } = MatchersV3;
const usage = { prompt_tokens: 6, total_tokens: 6 };
const usageShape = { prompt_tokens: integer(6), total_tokens: integer(6) };
const model = EXAMPLE_MODEL;

describe("a client that asks for vectors", () => {
  const given = ["our own server"] as const;

  test("of one text gets numbers", async () => {
    verifies("contract.parity.same-checks-both-providers");
    const asked = { input: "The sea is calm.", encoding_format: "float" } as const;
    const embedding = { object: "embedding", index: 0, embedding: [0.5, -0.25] } as const;
    const vectors = { object: "list", data: [embedding], model, usage };
    const shape = { object: "list", data: [{ ...embedding, embedding: eachLike(number(0.5)) }], usage: usageShape };
    await checkInteraction(
      {
        given: ["a chat model", ...given],
        request: "for the vector of a text",
        method: "POST",
        path: "/v1/embeddings",
        body: { model: theModel, ...asked },
        reply: { json: { ...shape, model: theModel } },
      },
      {
        official: async (client) => {
          const { data } = await client.embeddings.create({ model, ...asked });
          expect(data[0]?.embedding).toContain(0.5);
        },
        own: async (client) => {
          expect(await client.createEmbedding({ model, ...asked })).toMatchObject({ object: vectors.object, usage });
        },
      },
    );
  });

  test("of several texts reads them from base64", async () => {
    verifies("contract.parity.same-checks-both-providers");
    const asked = { input: ["The sea is calm.", "Bread is baked."], encoding_format: "base64" } as const;
    const embedding = regex("^[\\w+/]+={0,2}$", "AAAAPwAAgL4=");
    const data = [0, 1].map((index) => ({ object: "embedding", index, embedding }));
    await checkInteraction(
      {
        given: ["a chat model", ...given],
        request: "for the vectors of texts in base64",
        method: "POST",
        path: "/v1/embeddings",
        body: { model: theModel, ...asked },
        reply: { json: { object: "list", data, model: theModel, usage: usageShape } },
      },
      {
        // The official client decodes what it asked for by itself, so it leaves the encoding to its default.
        official: async (client) => {
          const { data: vectors } = await client.embeddings.create({ model, input: [...asked.input] });
          expect(vectors.map((vector) => vector.embedding)).toEqual([
            [0.5, -0.25],
            [0.5, -0.25],
          ]);
        },
        own: async (client) => {
          const { data: vectors } = await client.createEmbedding({ model, ...asked, input: [...asked.input] });
          expect(vectors[1]?.embedding).toBe("AAAAPwAAgL4=");
        },
      },
    );
  });

  test("of nothing is refused", async () => {
    verifies("contract.parity.same-checks-both-providers");
    const error = {
      message: regex("^'\\$\\.input' is invalid\\..*$", "'$.input' is invalid. It is empty."),
      type: "invalid_request_error",
      param: null,
      code: "invalid_request_error",
    };
    await checkInteraction(
      {
        given: ["a chat model", ...given],
        request: "for the vector of an empty text",
        method: "POST",
        path: "/v1/embeddings",
        body: { model: theModel, input: "", encoding_format: "float" },
        status: 400,
        reply: { json: { error } },
      },
      {
        official: async (client) => {
          await expect(client.embeddings.create({ model, input: "", encoding_format: "float" })).rejects.toThrow(
            "'$.input' is invalid.",
          );
        },
        own: async (client) => {
          await expect(client.createEmbedding({ model, input: "", encoding_format: "float" })).rejects.toThrow(
            "'$.input' is invalid.",
          );
        },
      },
    );
  });
});

test("a client that asks for ranks gets the best documents first", async () => {
  verifies("contract.parity.same-checks-both-providers");
  const asked = { query: "How is the sea?", documents: ["Bread is baked.", "The sea is calm."], top_n: 1 };
  const result = { index: 1, relevance_score: 0.5 };
  const results = [{ index: 1, relevance_score: number(0.5) }];
  await checkInteraction(
    {
      given: ["a chat model", "a server with extensions"],
      request: "for the ranks of documents",
      method: "POST",
      path: "/v1/rerank",
      body: { model: theModel, ...asked },
      reply: { json: { object: "list", model: theModel, results, usage: usageShape } },
    },
    {
      official: async (client) => {
        expect(await client.post("/rerank", { body: { model, ...asked } })).toMatchObject({ results: [result] });
      },
      own: async (client) => expect((await client.createRerank({ model, ...asked })).results).toEqual([result]),
    },
  );
});

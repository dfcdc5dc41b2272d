import { expect, test } from "vitest";
import { startTestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { askedOf, ranks, ranksTexts } from "./retrieval-servers.ts";
import { refuses, serveSeveral } from "./several-servers.ts";

const DOCUMENTS = ["none", "sea sea", { text: "sea" }, "sea sea sea"];
const ASKED = { model: "ranker", query: "sea", documents: DOCUMENTS };

test("documents are ordered by relevance, by servers of both forms", async () => {
  verifies("models.rerank.orders-documents");
  for (const answer of [ranks, ranksTexts]) {
    const { server, callsOf } = await serveSeveral({ first: answer }, "  ranker: first/a", {
      entries: { first: "embedding_inputs_max: 3" },
    });
    const reply = await server.post("/v1/rerank", { ...ASKED, top_n: 3, return_documents: true });
    expect([reply.status, await reply.json()]).toMatchObject([
      200,
      {
        object: "list",
        model: "ranker",
        results: [
          { index: 3, relevance_score: 0.3, document: { text: "sea sea sea" } },
          { index: 1, relevance_score: 0.2, document: { text: "sea sea" } },
          { index: 2, relevance_score: 0.1, document: { text: "sea" } },
        ],
      },
    ]);
    expect(reply.headers.get("x-antiphon-model-server")).toBe("first/a");
    const calls = callsOf("first").length;
    const { results }: { results: unknown } = await (await server.post("/v1/rerank", ASKED)).json();
    expect(results).toHaveLength(4);
    expect(results).not.toContainEqual(expect.objectContaining({ document: expect.anything() }));
    expect(callsOf("first").length - calls).toBe(2); // Two batches, and the form is known.
    expect(askedOf(callsOf("first").at(-1)?.body ?? "")).toMatchObject({ query: "sea" });
  }
});

test("the next server ranks if the first one fails or has no ranks", async () => {
  verifies("models.embeddings.routes");
  for (const failing of [refuses(500), refuses(404)]) {
    const { server } = await serveSeveral({ first: failing, second: ranks }, "  ranker: [first/a, second/b]");
    const reply = await server.post("/v1/rerank", ASKED);
    expect([reply.status, reply.headers.get("x-antiphon-model-server")]).toEqual([200, "second/b"]);
    expect(await reply.json()).toMatchObject({ usage: { prompt_tokens: 7, total_tokens: 7 } });
  }
});

test.each<[string, object, object]>([
  ["no documents", { documents: [] }, { param: "documents", code: "array_below_min_length" }],
  [
    "too many documents",
    { documents: Array.from({ length: 1001 }, () => "a") },
    { param: "documents", code: "array_above_max_length" },
  ],
  ["no question", { query: "" }, { param: "query", code: "string_below_min_length" }],
  ["a number as a document", { documents: [1] }, { param: "documents[0]", code: "invalid_type" }],
  ["no results", { top_n: 0 }, { param: "top_n", code: "integer_below_min_value" }],
])("%s is refused", async (_, members, error) => {
  const { server, callsOf } = await serveSeveral({ first: ranks }, "  ranker: first/a");
  const reply = await server.post("/v1/rerank", { ...ASKED, ...members });
  expect([reply.status, await reply.json()]).toMatchObject([400, { error }]);
  expect(callsOf("first")).toEqual([]);
});

test("the built-in engine ranks by shared words", async () => {
  verifies("models.rerank.built-in");
  const server = await startTestServer();
  const asked = { model: "antiphon-built-in", query: "How is the sea?", documents: ["Bread.", "The sea is calm."] };
  const { results }: { results: unknown } = await (await server.post("/v1/rerank", asked)).json();
  expect(results).toMatchObject([{ index: 1 }, { index: 0 }]);
});

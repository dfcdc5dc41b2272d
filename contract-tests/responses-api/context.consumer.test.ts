import { MatchersV3 } from "@pact-foundation/pact";
import { describe, expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { checkInteraction, EXAMPLE_MODEL, theModel } from "./interaction.fixture.ts";
import { checkRefusal, UNKNOWN_ID } from "./refusal.fixture.ts";

const { integer, regex, string } = MatchersV3;
const given = ["a chat model"] as const;
const MESSAGE = {
  id: "msg_1",
  type: "message",
  role: "user",
  status: "completed",
  content: [{ type: "input_text", text: "Say hello" }],
};
const COMPACTION = { id: "cmp_1", type: "compaction", encrypted_content: "gAAAA" };
const USAGE = {
  input_tokens: integer(20),
  input_tokens_details: { cache_write_tokens: integer(0), cached_tokens: integer(0) },
  output_tokens: integer(4),
  output_tokens_details: { reasoning_tokens: integer(0) },
  total_tokens: integer(24),
};

describe("a client that looks after its context", () => {
  test("counts the tokens of an input", async () => {
    verifies("contract.parity.same-checks-both-providers", "responses.count.without-generating");
    const asked = { input: "Say hello" };
    await checkInteraction(
      {
        given,
        request: "for the tokens of an input",
        method: "POST",
        path: "/v1/responses/input_tokens",
        body: { model: theModel, ...asked },
        reply: { json: { object: "response.input_tokens", input_tokens: integer(9) } },
      },
      {
        official: async (client) =>
          expect((await client.responses.inputTokens.count({ model: EXAMPLE_MODEL, ...asked })).input_tokens).toBe(9),
        own: async (client) =>
          expect((await client.countInputTokens({ model: EXAMPLE_MODEL, ...asked })).input_tokens).toBe(9),
      },
    );
  });

  test("has it compacted", async () => {
    verifies("contract.parity.same-checks-both-providers", "responses.compact.answers-compaction");
    const input = [
      { role: "user" as const, content: "Say hello" },
      { role: "assistant" as const, content: "hello" },
    ];
    await checkInteraction(
      {
        given,
        request: "for a compaction",
        method: "POST",
        path: "/v1/responses/compact",
        body: { model: theModel, input },
        reply: {
          json: {
            id: regex("^resp_.+$", "resp_1"),
            object: "response.compaction",
            created_at: integer(1_795_000_000),
            output: [
              { ...MESSAGE, id: regex("^msg_.+$", MESSAGE.id) },
              { ...COMPACTION, id: regex("^cmp_.+$", COMPACTION.id), encrypted_content: regex("^.+$", "gAAAA") },
            ],
            usage: USAGE,
          },
        },
      },
      {
        official: async (client) => {
          const compacted = await client.responses.compact({ model: EXAMPLE_MODEL, input });
          expect(compacted.output).toEqual([MESSAGE, COMPACTION]);
        },
        own: async (client) => {
          const compacted = await client.compactResponse({ model: EXAMPLE_MODEL, input });
          expect(compacted.output).toEqual([MESSAGE, COMPACTION]);
        },
      },
    );
  });
});

describe("a client that looks after its context is refused", () => {
  test("the tokens of an input for an unknown model", async () => {
    const body = { model: "no-such-model", input: "Say hello" };
    await checkRefusal(
      {
        given,
        request: "for the tokens of an unknown model",
        method: "POST",
        path: "/v1/responses/input_tokens",
        body,
      },
      {
        status: 400,
        code: "model_not_found",
        param: "model",
        message: string("The requested model 'no-such-model' does not exist."),
      },
      {
        official: (client) => client.responses.inputTokens.count(body),
        own: (client) => client.countInputTokens(body),
      },
    );
  });

  test("a compaction of what is not stored", async () => {
    const asked = { previous_response_id: UNKNOWN_ID };
    await checkRefusal(
      {
        given,
        request: "for a compaction of an unknown response",
        method: "POST",
        path: "/v1/responses/compact",
        body: { model: theModel, ...asked },
      },
      {
        status: 400,
        code: "previous_response_not_found",
        param: "previous_response_id",
        message: `Previous response with id '${UNKNOWN_ID}' not found.`,
      },
      {
        official: (client) => client.responses.compact({ model: EXAMPLE_MODEL, ...asked }),
        own: (client) => client.compactResponse({ model: EXAMPLE_MODEL, ...asked }),
      },
    );
  });
});

import { MatchersV3 } from "@pact-foundation/pact";
import { describe, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { checkAnswer } from "./answer.fixture.ts";
import { messageSaying, responseShape } from "./example-response.fixture.ts";
import { EXAMPLE_MODEL, theModel } from "./interaction.fixture.ts";

const { eachLike, equal, regex, string } = MatchersV3;
/** These tests do not run at the reference, because its test model does not reason. */
const CREATE = { method: "POST", path: "/v1/responses", given: ["a chat model", "a model that reasons"] } as const;
const model = EXAMPLE_MODEL;
const input = "Say hello";
const REASONING_ID = "rs_0123456789abcdef00670000000123456789abcdef01234567";
const THOUGHT = "**Greeting**";
const message = messageSaying("hello");
const MESSAGE = {
  ...message,
  id: regex("^msg_.+$", message.id),
  content: [{ ...message.content[0], text: string("hello") }],
};

describe("a client that lets the model reason", () => {
  test("gets a summary of it", async () => {
    verifies("contract.parity.same-checks-both-providers");
    const reasoning = { effort: "low" as const, summary: "auto" as const };
    const summary = [{ type: "summary_text", text: THOUGHT }];
    const item = { id: REASONING_ID, type: "reasoning", summary };
    const shape = {
      ...item,
      id: regex("^rs_.+$", REASONING_ID),
      summary: eachLike({ ...summary[0], text: string(THOUGHT) }),
    };
    await checkAnswer(
      {
        ...CREATE,
        request: "for a summary of reasoning",
        body: { model: theModel, input, reasoning },
        reply: {
          json: responseShape(
            {},
            { output: [shape, MESSAGE], reasoning: { effort: equal("low"), summary: "detailed" } },
          ),
        },
      },
      { output: [item, message], reasoning: { effort: "low" } },
      {
        official: (client) => client.responses.create({ model, input, reasoning }),
        own: (client) => client.createResponse({ model, input, reasoning }),
      },
    );
  });

  test("gets it encrypted, to send it back", async () => {
    const asked = {
      input,
      store: false,
      reasoning: { effort: "low" as const },
      include: ["reasoning.encrypted_content" as const],
    };
    const item = { id: REASONING_ID, type: "reasoning", encrypted_content: "gAAAA", summary: [] };
    const shape = { ...item, id: regex("^rs_.+$", REASONING_ID), encrypted_content: regex("^.+$", "gAAAA") };
    await checkAnswer(
      {
        ...CREATE,
        request: "for sealed reasoning",
        body: { model: theModel, ...asked },
        reply: { json: responseShape({ store: false }, { output: [shape, MESSAGE] }) },
      },
      { output: [item, message], store: false },
      {
        official: (client) => client.responses.create({ model, ...asked }),
        own: (client) => client.createResponse({ model, ...asked }),
      },
    );
  });
});

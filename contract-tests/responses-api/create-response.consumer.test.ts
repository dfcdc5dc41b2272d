import { MatchersV3 } from "@pact-foundation/pact";
import { describe, expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { CALL, CHOOSE_WEATHER, WEATHER } from "./example-events.fixture.ts";
import { exampleResponse, messageSaying, RESPONSE_ID, responseShape } from "./example-response.fixture.ts";
import { checkInteraction, EXAMPLE_MODEL, theModel } from "./interaction.fixture.ts";

const { equal, fromProviderState, like, regex } = MatchersV3;
const CREATE = { method: "POST", path: "/v1/responses", given: ["a chat model"] } as const;
const BILLING = { billing: { payer: like("developer") } };

describe("a client that creates responses", () => {
  test("gets a text", async () => {
    verifies("contract.parity.same-checks-both-providers");
    const asked = { input: "Say hello" };
    await checkInteraction(
      {
        ...CREATE,
        request: "for a text",
        body: { model: theModel, ...asked },
        reply: { json: responseShape({}, BILLING) },
      },
      {
        official: async (client) => {
          const response = await client.responses.create({ model: EXAMPLE_MODEL, ...asked });
          expect(response.output_text).toBe("hello");
          expect(response._request_id).toMatch(/^req_/);
        },
        own: async (client) => {
          const response = await client.createResponse({ model: EXAMPLE_MODEL, ...asked });
          expect(response.output).toEqual([messageSaying("hello")]);
        },
      },
    );
  });

  test("gets its settings echoed", async () => {
    verifies("create.metadata.echoed");
    const asked = {
      input: "Say hello",
      instructions: "Be brief.",
      metadata: { topic: "greeting" },
      max_output_tokens: 64,
      store: false,
    };
    const { instructions, metadata, max_output_tokens, store } = asked;
    const echoed = { instructions, metadata: { topic: "greeting" }, store };
    const exact = {
      instructions: equal(instructions),
      max_output_tokens: equal(max_output_tokens),
    };
    await checkInteraction(
      {
        ...CREATE,
        request: "with settings",
        body: { model: theModel, ...asked },
        reply: { json: responseShape({ ...echoed, metadata }, exact) },
      },
      {
        official: async (client) =>
          expect(await client.responses.create({ model: EXAMPLE_MODEL, ...asked })).toMatchObject({
            ...echoed,
            max_output_tokens,
          }),
        own: async (client) =>
          expect(await client.createResponse({ model: EXAMPLE_MODEL, ...asked })).toMatchObject({
            ...echoed,
            max_output_tokens,
          }),
      },
    );
  });

  test("gets a forced function call, and no text", async () => {
    verifies("create.toolchoice.forced-yields-the-call");
    const asked = { input: "What is the weather in Rome?" };
    const output = [
      { ...CALL, name: equal(CALL.name), arguments: regex('^\\{\\s*"city"\\s*:\\s*"Rome.*"\\s*\\}$', CALL.arguments) },
    ];
    await checkInteraction(
      {
        ...CREATE,
        request: "that forces a function call",
        body: { model: theModel, ...asked, tools: [WEATHER], tool_choice: CHOOSE_WEATHER },
        reply: { json: responseShape({}, { output, tools: [like(WEATHER)], tool_choice: equal(CHOOSE_WEATHER) }) },
      },
      {
        official: async (client) => {
          const response = await client.responses.create({
            model: EXAMPLE_MODEL,
            ...asked,
            tools: [WEATHER],
            tool_choice: CHOOSE_WEATHER,
          });
          const found = response.output.find((item) => item.type === "function_call");
          expect(JSON.parse(found?.arguments ?? "")).toEqual({ city: "Rome" });
          expect(response.output_text).toBe("");
        },
        own: async (client) => {
          const response = await client.createResponse({
            model: EXAMPLE_MODEL,
            ...asked,
            tools: [WEATHER],
            tool_choice: CHOOSE_WEATHER,
          });
          expect(response.output).toEqual([CALL]);
        },
      },
    );
  });

  test("gets JSON that fits its schema, as text", async () => {
    verifies("create.text.structured-answer-is-output-text", "create.text.json-schema-echo");
    const schema = {
      type: "object",
      properties: { name: { type: "string" } },
      required: ["name"],
      additionalProperties: false,
    };
    const format = { type: "json_schema", name: "person", schema, strict: true } as const;
    const asked = { input: "My name is Ada.", text: { format } };
    const answer = '{"name":"Ada"}';
    const part = {
      type: "output_text",
      annotations: [],
      logprobs: [],
      text: regex('^\\{\\s*"name"\\s*:\\s*".*"\\s*\\}$', answer),
    };
    const output = [{ ...messageSaying(answer), content: [part] }];
    const text = {
      format: { ...format, description: null, name: equal(format.name), schema: like(schema) },
      verbosity: "medium",
    };
    await checkInteraction(
      {
        ...CREATE,
        request: "for JSON by a schema",
        body: { model: theModel, ...asked },
        reply: { json: responseShape({}, { output, text }) },
      },
      {
        official: async (client) => {
          const response = await client.responses.parse({ model: EXAMPLE_MODEL, ...asked });
          expect(response.output_parsed).toEqual({ name: "Ada" });
        },
        own: async (client) => {
          const response = await client.createResponse({ model: EXAMPLE_MODEL, ...asked });
          expect(response.output).toEqual([messageSaying(answer)]);
        },
      },
    );
  });

  test("continues a stored response", async () => {
    verifies("create.chain.echoed");
    const asked = { input: "Say hello again", previous_response_id: RESPONSE_ID };
    const previous = fromProviderState("${response_id}", RESPONSE_ID);
    await checkInteraction(
      {
        ...CREATE,
        given: ["a chat model", "a stored response"],
        request: "that continues a response",
        body: { model: theModel, ...asked, previous_response_id: previous },
        reply: { json: responseShape({ previous_response_id: RESPONSE_ID }) },
      },
      {
        official: async (client) => {
          const response = await client.responses.create({ model: EXAMPLE_MODEL, ...asked });
          expect(response.previous_response_id).toBe(RESPONSE_ID);
        },
        own: async (client) => {
          const response = await client.createResponse({ model: EXAMPLE_MODEL, ...asked });
          expect(response.previous_response_id).toBe(exampleResponse().id);
        },
      },
    );
  });

  test("gets the text up to its token limit", async () => {
    verifies("create.limits.max-output-tokens-cuts", "response.body.completed-at-only-when-completed");
    const asked = { input: "Write 200 words about the sea.", max_output_tokens: 16 };
    const cut = {
      status: "incomplete",
      completed_at: null,
      incomplete_details: { reason: "max_output_tokens" },
      max_output_tokens: 16,
      output: [{ ...messageSaying("The sea"), status: "incomplete" }],
    } as const;
    await checkInteraction(
      {
        ...CREATE,
        request: "with a limit that cuts",
        body: { model: theModel, ...asked },
        reply: { json: responseShape({ ...cut, output: [...cut.output] }) },
      },
      {
        official: async (client) => {
          const response = await client.responses.create({ model: EXAMPLE_MODEL, ...asked });
          expect(response.incomplete_details?.reason).toBe("max_output_tokens");
          expect(response.output_text).toBe("The sea");
        },
        own: async (client) =>
          expect(await client.createResponse({ model: EXAMPLE_MODEL, ...asked })).toMatchObject({
            status: "incomplete",
            output: cut.output,
          }),
      },
    );
  });
});

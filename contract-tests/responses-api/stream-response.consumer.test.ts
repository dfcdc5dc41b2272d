import { describe, expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import {
  CALL,
  CALL_BLOCK,
  CHOOSE_WEATHER,
  COMPLETED,
  type ExampleEvent,
  PREFIX,
  TEXT_BLOCK,
  WEATHER,
} from "./example-events.fixture.ts";
import { exampleResponse, messageSaying } from "./example-response.fixture.ts";
import { checkInteraction, EXAMPLE_MODEL, theModel } from "./interaction.fixture.ts";
import { framed, numbered, streamPattern, unpadded } from "./stream-frames.fixture.ts";

const CREATE = { method: "POST", path: "/v1/responses", given: ["a chat model"] } as const;
const model = EXAMPLE_MODEL;
const stream = true;

/** Means "no event has obfuscation", as well as a pattern without look-around can. */
const UNPADDED = "^(event: [a-z_.]+\\ndata: \\{([^o\\n]|o[^b\\n]|ob[^f\\n])*\\}\\n\\n)+$";

/** Checks the frames and the order of events. `stream-events.consumer.test.ts` checks their contents. */
describe("a client that streams responses", () => {
  test("gets a text in the frames of the reference", async () => {
    verifies(
      "contract.parity.same-checks-both-providers",
      "responses.stream.framing",
      "responses.stream.foreground-prefix",
      "responses.stream.text-block-order",
      "responses.stream.no-done-marker",
    );
    const asked = { input: "Say hello" };
    const events = numbered([...PREFIX, ...TEXT_BLOCK, COMPLETED]);
    const pattern = streamPattern(TEXT_BLOCK);
    await checkInteraction(
      {
        ...CREATE,
        request: "for a streamed text",
        body: { model: theModel, stream, ...asked },
        reply: { events: framed(events), pattern },
      },
      {
        official: async (client) => {
          expect(await Array.fromAsync(await client.responses.create({ model, stream, ...asked }))).toEqual(events);
          const final = await client.responses.stream({ model, ...asked }).finalResponse();
          expect(final.output_text).toBe("hello");
        },
        own: async (client) => {
          expect(await Array.fromAsync(await client.createResponse({ model, stream, ...asked }))).toEqual(events);
        },
      },
    );
  });

  test("gets a function call in the frames of the reference", async () => {
    verifies("responses.stream.function-call-order");
    const asked = { input: "What is the weather in Rome?", tools: [WEATHER], tool_choice: CHOOSE_WEATHER };
    const completed: ExampleEvent = {
      ...COMPLETED,
      type: "response.completed",
      response: exampleResponse({ output: [CALL] }),
    };
    const events = numbered([...PREFIX, ...CALL_BLOCK, completed]);
    const pattern = streamPattern(CALL_BLOCK);
    await checkInteraction(
      {
        ...CREATE,
        request: "for a streamed function call",
        body: { model: theModel, stream, ...asked },
        reply: { events: framed(events), pattern },
      },
      {
        official: async (client) => {
          const final = await client.responses.stream({ model, ...asked }).finalResponse();
          expect(final.output).toMatchObject([CALL]);
        },
        own: async (client) => {
          const types = [];
          for await (const { type } of await client.createResponse({ model, stream, ...asked })) types.push(type);
          expect(types).toEqual(events.map(({ type }) => type));
        },
      },
    );
  });

  test("gets no padding where it asks for none", async () => {
    verifies("responses.stream.obfuscation-can-be-off");
    const asked = { input: "Say hello", stream_options: { include_obfuscation: false } };
    const events = numbered([...PREFIX, ...unpadded(TEXT_BLOCK), COMPLETED]);
    const pattern = UNPADDED;
    await checkInteraction(
      {
        ...CREATE,
        request: "for a stream without padding",
        body: { model: theModel, stream, ...asked },
        reply: { events: framed(events), pattern },
      },
      {
        official: async (client) => {
          const final = await client.responses.stream({ model, ...asked }).finalResponse();
          expect(final.output).toMatchObject([messageSaying("hello")]);
        },
        own: async (client) => {
          expect(await Array.fromAsync(await client.createResponse({ model, stream, ...asked }))).toEqual(events);
        },
      },
    );
  });
});

import type { CreateResponseRequest } from "@antiphon/contracts/responses-api/types.ts";
import { MatchersV3 } from "@pact-foundation/pact";
import { describe, expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { checkAnswer } from "./answer.fixture.ts";
import { COMPLETED, PREFIX, TEXT_BLOCK } from "./example-events.fixture.ts";
import { messageSaying, RESPONSE_ID, responseShape } from "./example-response.fixture.ts";
import { checkInteraction, EXAMPLE_MODEL, theModel } from "./interaction.fixture.ts";
import { framed, framePatterns } from "./stream-frames.fixture.ts";

const { eachLike, fromProviderState, regex, string } = MatchersV3;
/** The reference refuses all of these requests. */
const given = ["a chat model", "a server with extensions"] as const;
const CREATE = { given, method: "POST", path: "/v1/responses" } as const;
const model = EXAMPLE_MODEL;
/** A WAV file. */
const TWO_SAMPLES = "UklGRigAAABXQVZFZm10IBAAAAABAAEAwF0AAIC7AAACABAAZGF0YQQAAAAAAAAA";
const HELLO = { type: "input_text", text: "Say hello" } as const;

type Asked = Readonly<Record<string, Omit<CreateResponseRequest, "model" | "stream">>>;

const ASKED: Asked = {
  "with parts as its input": { input: [HELLO] },
  "with parts as its instructions": { input: "Say hello", instructions: [{ type: "input_text", text: "Be brief." }] },
  "with a history as its conversation": {
    input: "Say hello",
    conversation: [{ role: "user", content: "My name is Ada." }],
  },
};

describe("a client that asks for more than the reference gives", () => {
  test.each(Object.entries(ASKED))("sends a request %s", async (request, asked) => {
    verifies("contract.parity.same-checks-both-providers");
    const instructions = asked.instructions === undefined ? null : "Be brief.";
    await checkAnswer(
      { ...CREATE, request, body: { model: theModel, ...asked }, reply: { json: responseShape({ instructions }) } },
      { output: [messageSaying("hello")], instructions },
      {
        official: (client) => client.post("/responses", { body: { model, ...asked } }),
        own: (client) => client.createResponse({ model, ...asked }),
      },
    );
  });

  test("gets the model's raw reasoning", async () => {
    const asked = { input: "Say hello", reasoning: { enable_chain_of_thought: true } };
    const id = "rs_0123456789abcdef00670000000123456789abcdef01234567";
    const message = messageSaying("hello");
    const [part] = message.content;
    const thought = { type: "summary_text", text: string("**Greeting**") };
    const output = [
      { id: regex("^rs_.+$", id), type: "reasoning", summary: eachLike(thought) },
      { ...message, id: regex("^msg_.+$", message.id), content: [{ ...part, text: string("hello") }] },
    ];
    await checkAnswer(
      {
        ...CREATE,
        given: [...given, "a model that reasons"],
        request: "for the thoughts of the model",
        body: { model: theModel, ...asked },
        reply: { json: responseShape({}, { output }) },
      },
      { output: [{ id, summary: [{ text: "**Greeting**" }] }, message] },
      {
        official: (client) => client.post("/responses", { body: { model, ...asked } }),
        own: (client) => client.createResponse({ model, ...asked }),
      },
    );
  });

  test("turns off the deltas that it does not read", async () => {
    const asked = { input: "Say hello", stream: true as const, stream_options: { channels: ["tool_call" as const] } };
    const all = [...PREFIX, ...TEXT_BLOCK, COMPLETED].map((event, sequence_number) => ({ ...event, sequence_number }));
    const events = all.filter(({ type }) => !type.startsWith("response.output_text."));
    await checkInteraction(
      {
        ...CREATE,
        request: "for a stream without texts",
        body: { model: theModel, ...asked },
        reply: { events: framed(events), pattern: `^${framePatterns(events)}$` },
      },
      {
        official: async (client) => {
          const stream = client.post<AsyncIterable<unknown>>("/responses", { body: { model, ...asked }, stream: true });
          expect(await Array.fromAsync(await stream)).toEqual(events);
        },
        own: async (client) =>
          expect(await Array.fromAsync(await client.createResponse({ model, ...asked }))).toEqual(events),
      },
    );
  });

  test("fetches the sound of a spoken answer", async () => {
    verifies("responses.audio.plain-reply-points-to-sound");
    const sound = Buffer.from(TWO_SAMPLES, "base64");
    await checkInteraction(
      {
        given: ["a spoken response", "a server with extensions"],
        request: "for the sound of a spoken answer",
        method: "GET",
        path: fromProviderState("/v1/responses/${response_id}/audio", `/v1/responses/${RESPONSE_ID}/audio`),
        reply: { bytes: sound, type: "audio/wav", detectedType: "audio/x-wav" },
      },
      {
        official: async (client) => {
          const reply = await client.get(`/responses/${RESPONSE_ID}/audio`).asResponse();
          expect(Buffer.from(await reply.arrayBuffer())).toEqual(sound);
        },
        own: async (client) => expect(Buffer.from(await client.getResponseAudio(RESPONSE_ID))).toEqual(sound),
      },
    );
  });

  test("lists the input of a whole chain", async () => {
    const path = fromProviderState(
      "/v1/responses/${response_id}/input_items",
      `/v1/responses/${RESPONSE_ID}/input_items`,
    );
    const user = { id: "msg_0123456789abcdef006700000001one", type: "message", status: "completed", role: "user" };
    const asked = { ...user, content: [HELLO] };
    const answered = messageSaying("hello");
    const [part] = answered.content;
    const id = regex("^msg_.+$", user.id);
    const data = [
      { ...asked, id },
      { ...answered, id: regex("^msg_.+$", answered.id), content: [{ ...part, text: string("hello") }] },
      { ...asked, id },
    ];
    const query = { history: true, order: "asc" } as const;
    await checkAnswer(
      {
        given: ["a response that continues another", "a server with extensions"],
        request: "for the input of a chain",
        method: "GET",
        path,
        query: { history: "true", order: "asc" },
        reply: { json: { object: "list", data, first_id: id, has_more: false, last_id: id } },
      },
      { data: [asked, answered, asked] },
      {
        official: (client) => client.get(`/responses/${RESPONSE_ID}/input_items`, { query }),
        own: (client) => client.listInputItems(RESPONSE_ID, query),
      },
    );
  });
});

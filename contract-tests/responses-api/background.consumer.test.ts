import { MatchersV3 } from "@pact-foundation/pact";
import { describe, expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { checkAnswer } from "./answer.fixture.ts";
import { COMPLETED, type ExampleEvent, TEXT_BLOCK } from "./example-events.fixture.ts";
import { exampleResponse, RESPONSE_ID, responseShape } from "./example-response.fixture.ts";
import { checkInteraction, EXAMPLE_MODEL, theModel } from "./interaction.fixture.ts";
import { checkRefusal } from "./refusal.fixture.ts";
import { framed, framePatterns, numbered, streamPattern, unpadded } from "./stream-frames.fixture.ts";

const { fromProviderState, like } = MatchersV3;
const model = EXAMPLE_MODEL;
const background = true;
const CREATE = { method: "POST", path: "/v1/responses", given: ["a chat model"] } as const;
const path = fromProviderState("/v1/responses/${response_id}", `/v1/responses/${RESPONSE_ID}`);
const cancelPath = fromProviderState("/v1/responses/${response_id}/cancel", `/v1/responses/${RESPONSE_ID}/cancel`);

const QUEUED = {
  status: "queued",
  background,
  completed_at: null,
  output: [],
  service_tier: "auto",
  usage: null,
} as const;
const CANCELLED = { ...QUEUED, status: "cancelled" } as const;

const PREFIX: readonly ExampleEvent[] = [
  { type: "response.created", response: exampleResponse({ ...QUEUED, output: [] }) },
  { type: "response.queued", response: exampleResponse({ ...QUEUED, output: [] }) },
  { type: "response.in_progress", response: exampleResponse({ ...QUEUED, output: [], status: "in_progress" }) },
];
const BLOCK = unpadded(TEXT_BLOCK);
const EVENTS = numbered([...PREFIX, ...BLOCK, COMPLETED]);

describe("a client that does not wait for its response", () => {
  test("gets it queued", async () => {
    verifies("contract.parity.same-checks-both-providers");
    const asked = { input: "Say hello", background };
    await checkAnswer(
      {
        ...CREATE,
        request: "for a text in the background",
        body: { model: theModel, ...asked },
        reply: { json: responseShape({ ...QUEUED, output: [] }) },
      },
      QUEUED,
      {
        official: (client) => client.responses.create({ model, ...asked }),
        own: (client) => client.createResponse({ model, ...asked }),
      },
    );
  });

  test("fetches it when it is done", async () => {
    await checkAnswer(
      {
        given: ["a response made in the background"],
        request: "for a response made in the background",
        method: "GET",
        path,
        reply: { json: responseShape({ background }) },
      },
      { status: "completed", background },
      {
        official: (client) => client.responses.retrieve(RESPONSE_ID),
        own: (client) => client.getResponse(RESPONSE_ID),
      },
    );
  });

  test("can watch it being made", async () => {
    const asked = { input: "Say hello", background, stream: true } as const;
    await checkInteraction(
      {
        ...CREATE,
        request: "for a stream from the background",
        body: { model: theModel, ...asked },
        reply: { events: framed(EVENTS), pattern: streamPattern(TEXT_BLOCK, PREFIX) },
      },
      {
        official: async (client) =>
          expect(await Array.fromAsync(await client.responses.create({ model, ...asked }))).toEqual(EVENTS),
        own: async (client) =>
          expect(await Array.fromAsync(await client.createResponse({ model, ...asked }))).toEqual(EVENTS),
      },
    );
  });

  test("reads its events again", async () => {
    await checkInteraction(
      {
        given: ["a response streamed from the background"],
        request: "for the events of a response",
        method: "GET",
        path,
        query: { stream: "true" },
        reply: { events: framed(EVENTS), pattern: streamPattern(TEXT_BLOCK, PREFIX) },
      },
      {
        official: async (client) =>
          expect(await Array.fromAsync(await client.responses.retrieve(RESPONSE_ID, { stream: true }))).toEqual(EVENTS),
        own: async (client) =>
          expect(await Array.fromAsync(await client.getResponse(RESPONSE_ID, { stream: true }))).toEqual(EVENTS),
      },
    );
  });

  test("reads on after the event that it saw last", async () => {
    const query = { stream: true, starting_after: 2 } as const;
    const events = numbered([...BLOCK, COMPLETED], 3);
    await checkInteraction(
      {
        given: ["a response streamed from the background"],
        request: "for the further events of a response",
        method: "GET",
        path,
        query: { stream: "true", starting_after: "2" },
        reply: { events: framed(events), pattern: `^${framePatterns([...TEXT_BLOCK, COMPLETED])}$` },
      },
      {
        official: async (client) =>
          expect(await Array.fromAsync(await client.responses.retrieve(RESPONSE_ID, query))).toEqual(events),
        own: async (client) =>
          expect(await Array.fromAsync(await client.getResponse(RESPONSE_ID, query))).toEqual(events),
      },
    );
  });
});

describe("a client that cancels", () => {
  const cancelled = { json: responseShape({ ...CANCELLED, output: [] }, { output: like([]) }) };
  const seen = { status: "cancelled", completed_at: null, usage: null };

  test.each([
    {
      does: "stops a response that is being made",
      state: "a background response that is being made",
      request: "to cancel a response",
    },
    { does: "may do so again", state: "a cancelled response", request: "to cancel a response again" },
  ] as const)("$does", async ({ state, request }) => {
    await checkAnswer({ given: [state], request, method: "POST", path: cancelPath, reply: cancelled }, seen, {
      official: (client) => client.responses.cancel(RESPONSE_ID),
      own: (client) => client.cancelResponse(RESPONSE_ID),
    });
  });

  test("gets a finished response as it is", async () => {
    await checkAnswer(
      {
        given: ["a response made in the background"],
        request: "to cancel a finished response",
        method: "POST",
        path: cancelPath,
        reply: { json: responseShape({ background }) },
      },
      { status: "completed" },
      {
        official: (client) => client.responses.cancel(RESPONSE_ID),
        own: (client) => client.cancelResponse(RESPONSE_ID),
      },
    );
  });

  test("is refused where the response was streamed to its end", async () => {
    verifies("errors.catalogue.cancel-completed-stream");
    await checkRefusal(
      {
        given: ["a response streamed from the background"],
        request: "to cancel a response that was streamed to its end",
        method: "POST",
        path: cancelPath,
      },
      { status: 400, param: null, message: "Cannot cancel a completed response." },
      {
        official: (client) => client.responses.cancel(RESPONSE_ID),
        own: (client) => client.cancelResponse(RESPONSE_ID),
      },
    );
  });

  test("is refused where it waited for the response", async () => {
    verifies("errors.catalogue.cancel-foreground");
    await checkRefusal(
      { given: ["a stored response"], request: "to cancel a foreground response", method: "POST", path: cancelPath },
      { status: 400, param: null, message: "Cannot cancel a synchronous response." },
      {
        official: (client) => client.responses.cancel(RESPONSE_ID),
        own: (client) => client.cancelResponse(RESPONSE_ID),
      },
    );
  });
});

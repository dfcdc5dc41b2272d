import { MatchersV3 } from "@pact-foundation/pact";
import { describe, expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { COMPLETED, PREFIX, TEXT_BLOCK } from "./example-events.fixture.ts";
import { RESPONSE_ID } from "./example-response.fixture.ts";
import { checkInteraction, type Interaction } from "./interaction.fixture.ts";
import { checkRefusal, UNKNOWN_ID } from "./refusal.fixture.ts";
import {
  framedWithIds,
  framePatterns,
  numbered,
  patternWithIds,
  streamPattern,
  unpadded,
} from "./stream-frames.fixture.ts";

const { fromProviderState, string } = MatchersV3;
const path = fromProviderState("/v1/responses/${response_id}", `/v1/responses/${RESPONSE_ID}`);
const eventsPath = fromProviderState("/v1/responses/${response_id}/events", `/v1/responses/${RESPONSE_ID}/events`);
const EVENTS = numbered([...PREFIX, ...unpadded(TEXT_BLOCK), COMPLETED]);

describe("a client that wants to read a stream again", () => {
  const stream = true;

  test("is refused where the response was not made in the background", async () => {
    verifies("contract.parity.same-checks-both-providers", "errors.catalogue.replay-foreground");
    await checkRefusal(
      {
        given: ["a stored response"],
        request: "for the events of a foreground response",
        method: "GET",
        path,
        query: { stream: "true" },
      },
      { status: 400, param: "stream", message: string("It was not created with background=true.") },
      {
        official: (client) => client.responses.retrieve(RESPONSE_ID, { stream }),
        own: (client) => client.getResponse(RESPONSE_ID, { stream }),
      },
    );
  });

  test("is refused where the response was not made with a stream", async () => {
    await checkRefusal(
      {
        given: ["a response made in the background"],
        request: "for the events of a response made without a stream",
        method: "GET",
        path,
        query: { stream: "true" },
      },
      { status: 400, param: "stream", message: string("It was not created with stream=true.") },
      {
        official: (client) => client.responses.retrieve(RESPONSE_ID, { stream }),
        own: (client) => client.getResponse(RESPONSE_ID, { stream }),
      },
    );
  });

  test("is refused where the number to begin after is none", async () => {
    verifies("errors.catalogue.integer-bounds");
    const query = { stream, starting_after: -1 } as const;
    await checkRefusal(
      {
        given: ["a response streamed from the background", "our own server"],
        request: "for the events after a negative number",
        method: "GET",
        path,
        query: { stream: "true", starting_after: "-1" },
      },
      {
        status: 400,
        code: "integer_below_min_value",
        param: "starting_after",
        message: string("Invalid 'starting_after': integer below minimum value."),
      },
      {
        official: (client) => client.responses.retrieve(RESPONSE_ID, query),
        own: (client) => client.getResponse(RESPONSE_ID, query),
      },
    );
  });
});

/** Only our server has this path. It replays every stored response. */
describe("a client that reads the events of a response at their own address", () => {
  const READ: Omit<Interaction, "request" | "reply"> = {
    given: ["a stored response", "a server with extensions"],
    method: "GET",
    path: eventsPath,
  };
  const read = `/responses/${RESPONSE_ID}/events`;

  test("gets all of them", async () => {
    await checkInteraction(
      {
        ...READ,
        request: "for stored events",
        reply: { events: framedWithIds(EVENTS), pattern: patternWithIds(streamPattern(TEXT_BLOCK)) },
      },
      {
        official: async (client) =>
          expect(await Array.fromAsync(await client.get<AsyncIterable<unknown>>(read, { stream: true }))).toEqual(
            EVENTS,
          ),
        own: async (client) =>
          expect(await Array.fromAsync(await client.streamResponseEvents(RESPONSE_ID))).toEqual(EVENTS),
      },
    );
  });

  test("gets those after the one that it saw last, in the reference's words", async () => {
    const query = { starting_after: 1, dialect: "reference" } as const;
    const events = numbered([...unpadded(TEXT_BLOCK), COMPLETED], 2);
    await checkInteraction(
      {
        ...READ,
        request: "for further stored events",
        query: { starting_after: "1", dialect: "reference" },
        reply: {
          events: framedWithIds(events),
          pattern: patternWithIds(`^${framePatterns([...TEXT_BLOCK, COMPLETED])}$`),
        },
      },
      {
        official: async (client) =>
          expect(
            await Array.fromAsync(await client.get<AsyncIterable<unknown>>(read, { stream: true, query })),
          ).toEqual(events),
        own: async (client) =>
          expect(await Array.fromAsync(await client.streamResponseEvents(RESPONSE_ID, query))).toEqual(events),
      },
    );
  });

  test("gets 404 for those of an unknown response", async () => {
    await checkRefusal(
      {
        given: ["a server with extensions"],
        request: "for the stored events of an unknown response",
        method: "GET",
        path: `/v1/responses/${UNKNOWN_ID}/events`,
      },
      { status: 404, param: null, message: `Response with id '${UNKNOWN_ID}' not found.` },
      {
        official: (client) => client.get(`/responses/${UNKNOWN_ID}/events`),
        own: (client) => client.streamResponseEvents(UNKNOWN_ID),
      },
    );
  });
});

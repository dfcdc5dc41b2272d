import { MatchersV3, PactV4 } from "@pact-foundation/pact";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { readResponseStreamEvent } from "../../generated/responses-api/readers.js";
import { Antiphon } from "../../src/client/index.ts";
import { verifies } from "../../tests/verifies.ts";
import { PACTS_DIR, type Parties } from "../pact-files.fixture.ts";
import { shapeOf } from "../shape.fixture.ts";
import type { ExampleEvent } from "./example-events.fixture.ts";
import {
  nameOfEvent,
  SITUATIONS,
  STAGED_EVENTS,
  STAGED_SITUATIONS,
  STREAM_EVENTS,
} from "./stream-situations.fixture.ts";

const REQUEST = { model: "example-model", input: "Hi", stream: true } as const;

describe.each([...casesOf(STREAM_EVENTS, SITUATIONS), ...casesOf(STAGED_EVENTS, STAGED_SITUATIONS)])(
  "a reader of streams, $state",
  ({ parties, state, events }) => {
    test.each(events.map((event) => ({ name: nameOfEvent(event), event })))(
      "understands $name",
      async ({ name, event }) => {
        verifies("contract.parity.same-checks-both-providers");
        await new PactV4({ ...parties, dir: PACTS_DIR, logLevel: "error" })
          .addAsynchronousInteraction()
          .given(state)
          .expectsToReceive(name, (builder) => builder.withJSONContent(expected(event)))
          .executeTest(async ({ contents }) => checkClients(contents.content));
      },
    );
  },
);

interface Situation {
  readonly parties: Parties;
  readonly state: string;
  readonly events: readonly ExampleEvent[];
}

function casesOf(parties: Parties, situations: Readonly<Record<string, readonly ExampleEvent[]>>): Situation[] {
  return Object.entries(situations).map(([state, events]) => ({ parties, state, events }));
}

/** Any error will do. The reference sends no name with finished arguments, though its contract says so. */
function expected(event: ExampleEvent): unknown {
  const { name: _, ...members } = { name: "", ...event };
  const error = event.type === "error" ? { error: MatchersV3.like(event.error) } : {};
  return shapeOf({ ...members, ...error, sequence_number: 0 });
}

/** A stream of this one event reaches both clients, and the event comes out as it went in. */
async function checkClients(event: unknown): Promise<void> {
  const type = String(Object(event).type);
  const text = `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`;
  const fetch = async (): Promise<Response> => new Response(text, { headers: { "content-type": "text/event-stream" } });
  const official = new OpenAI({ apiKey: "sk-example", maxRetries: 0, fetch });
  const own = new Antiphon({ retriesMax: 0, fetch });
  const reads = [firstOf(official.responses.create(REQUEST)), firstOf(own.createResponse(REQUEST))];
  for (const read of reads) {
    if (type === "error") await expect(read).rejects.toMatchObject({ code: "server_error" });
    else expect(await read).toEqual(event);
  }
  expect(readResponseStreamEvent(event), JSON.stringify(readResponseStreamEvent.errors)).toBe(true);
}

async function firstOf(stream: PromiseLike<AsyncIterable<unknown>>): Promise<unknown> {
  for await (const event of await stream) return event;
  throw new Error("the stream is empty");
}

import { readAnyStreamEvent } from "@antiphon/contracts/responses-api/readers.js";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { Antiphon } from "../../packages/client/src/index.ts";
import { verifies } from "../../tests/verifies.ts";
import { checkMessage, nameOfExample, SSE_READERS, shapeOfEvent } from "./message-pacts.fixture.ts";
import { PENDING_SITUATIONS } from "./pending-situations.fixture.ts";
import { type AnyExample, SITUATIONS, STAGED_SITUATIONS } from "./stream-situations.fixture.ts";

const REQUEST = { model: "example-model", input: "Hi", stream: true } as const;

const EXAMPLES: Readonly<Record<string, readonly AnyExample[]>> = {
  ...SITUATIONS,
  ...STAGED_SITUATIONS,
  ...Object.fromEntries(Object.entries(PENDING_SITUATIONS).map(([state, { events }]) => [state, events])),
};

describe.each(SSE_READERS)("$consumer reads events", (parties) => {
  describe.each(Object.entries(EXAMPLES))("of %s:", (state, events) => {
    test.each(events.map((event) => ({ name: nameOfExample(event), event })))("$name", async ({ name, event }) => {
      verifies("contract.parity.same-checks-both-providers");
      const { read, thrown } = parties.consumer === "openai-sdk" ? OFFICIAL : OWN;
      await checkMessage(parties, { state, name, shape: shapeOfEvent(event) }, async (content) => {
        const outcome = read(streamOf(content));
        if (thrown.includes(event.type)) await expect(outcome).rejects.toMatchObject({ code: "server_error" });
        else expect(await outcome).toEqual(content);
      });
    });
  });
});

/** Clients return each event unchanged, except the types in `thrown`. */
const OFFICIAL = { read: readByOfficial, thrown: ["error"] };
const OWN = { read: readByOwn, thrown: ["error", "response.error"] };

type Fetch = () => Promise<Response>;

/** Returns a `fetch` whose reply is a stream of this one event. */
function streamOf(event: unknown): Fetch {
  const text = `event: ${String(Object(event).type)}\ndata: ${JSON.stringify(event)}\n\n`;
  return async () => new Response(text, { headers: { "content-type": "text/event-stream" } });
}

async function readByOfficial(fetch: Fetch): Promise<unknown> {
  return firstOf(await new OpenAI({ apiKey: "sk-example", maxRetries: 0, fetch }).responses.create(REQUEST));
}

async function readByOwn(fetch: Fetch): Promise<unknown> {
  const event = await firstOf(await new Antiphon({ retriesMax: 0, fetch }).createResponse(REQUEST));
  expect(readAnyStreamEvent(event), JSON.stringify(readAnyStreamEvent.errors)).toBe(true);
  return event;
}

async function firstOf(stream: AsyncIterable<unknown>): Promise<unknown> {
  for await (const event of stream) return event;
  throw new Error("the stream is empty");
}

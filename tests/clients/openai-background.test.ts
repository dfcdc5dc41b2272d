import { BadRequestError } from "openai";
import type { Response, ResponseStreamEvent } from "openai/resources/responses/responses";
import { describe, expect, test } from "vitest";
import { verifies } from "../verifies.ts";
import { installedVersion } from "./installed-version.ts";
import { collect, MODEL, startWithClient } from "./openai-client.ts";

const SCENARIO = `
scenarios:
  - when: { input_contains: in two halves }
    events:
      - reasoning_summary: ["**Halving**"]
      - text: The first half
      - delay_ms: 400
      - call: { name: get_weather, call_id: call_1, arguments: { city: Paris }, chunks: 4 }
      - message: {}
      - text: And the second.
  - when: { input_contains: never ends }
    events:
      - text: It begins
      - delay_ms: 600000
      - text: and ends.
  - when: { input_contains: dies midway }
    events:
      - text: So far so
      - error: { status: 500, type: server_error, code: server_error, message: The model broke off. }
`;

const { client } = await startWithClient(SCENARIO);

describe(`openai ${installedVersion("openai")}`, () => {
  test("a background response is polled until it has completed", async () => {
    verifies("responses.background.returns-queued-at-once");
    const created = await client.responses.create({ model: MODEL, input: "in two halves", background: true });
    expect(created).toMatchObject({ status: "queued", background: true, output: [], usage: null });
    const final = await ended(created.id);
    expect(final).toMatchObject({ status: "completed", output_text: "The first halfAnd the second." });
    expect(final.output.map(({ type }) => type)).toEqual(["reasoning", "message", "function_call", "message"]);
  });

  test("a background run that fails is polled as failed", async () => {
    const created = await client.responses.create({ model: MODEL, input: "dies midway", background: true });
    expect(await ended(created.id)).toMatchObject({ status: "failed", error: { code: "server_error" } });
  });

  test("a background response is cancelled, twice with the same answer", async () => {
    const created = await client.responses.create({ model: MODEL, input: "never ends", background: true });
    await expect.poll(async () => (await client.responses.retrieve(created.id)).status).toBe("in_progress");
    expect(await client.responses.cancel(created.id)).toMatchObject({ id: created.id, status: "cancelled" });
    expect(await client.responses.cancel(created.id)).toMatchObject({ id: created.id, status: "cancelled" });
    expect(await client.responses.retrieve(created.id)).toMatchObject({ status: "cancelled" });
  });

  test("a background stream begins queued and is read to its end", async () => {
    const stream = await client.responses.create({
      model: MODEL,
      input: "in two halves",
      background: true,
      stream: true,
    });
    const events = await collect(stream);
    expect(events.slice(0, 3).map(({ type }) => type)).toEqual([
      "response.created",
      "response.queued",
      "response.in_progress",
    ]);
    expect(events.at(-1)?.type).toBe("response.completed");
    expect(numbers(events)).toEqual(events.map((_, index) => index));
  });

  test("a background stream that breaks is resumed from every number, each event once", async () => {
    const stream = await client.responses.create({
      model: MODEL,
      input: "in two halves",
      background: true,
      stream: true,
    });
    const before: ResponseStreamEvent[] = [];
    for await (const event of stream) {
      before.push(event);
      if (event.type === "response.output_text.delta") break;
    }
    const id = before[0]?.type === "response.created" ? before[0].response.id : "";
    const last = before.at(-1)?.sequence_number ?? 0;
    const after = await collect(await client.responses.retrieve(id, { stream: true, starting_after: last }));
    const all = [...before, ...after];
    expect(numbers(all)).toEqual(all.map((_, index) => index));
    for (const point of numbers(all)) {
      const rest = await collect(await client.responses.retrieve(id, { stream: true, starting_after: point }));
      expect(rest.map(comparable)).toEqual(all.slice(point + 1).map(comparable));
    }
  });

  test("responses.stream() attaches to a running response by its id, from a number on", async () => {
    verifies("responses.stream.node-helper-accepts");
    const id = await begin("in two halves");
    const attached = client.responses.stream({ response_id: id, starting_after: 3 });
    const events = await collect(attached);
    expect(events[0]?.sequence_number).toBe(4);
    const final = await attached.finalResponse();
    expect(final.output).toMatchObject((await client.responses.retrieve(id)).output);
  });

  test("two readers of one run see the same events", async () => {
    const id = await begin("in two halves");
    const both = await Promise.all([0, 1].map(() => client.responses.stream({ response_id: id })).map(collect));
    expect(both[0]?.map(comparable)).toEqual(both[1]?.map(comparable));
    expect(both[0]?.at(-1)?.type).toBe("response.completed");
  });

  test("a request that needs a background response is refused for another response", async () => {
    const { id } = await client.responses.create({ model: MODEL, input: "Say hello" });
    await expect(client.responses.retrieve(id, { stream: true })).rejects.toBeInstanceOf(BadRequestError);
    await expect(
      client.responses.create({ model: MODEL, input: "Hi", background: true, store: false }),
    ).rejects.toThrow(BadRequestError);
  });
});

/** Starts a background run, and leaves its stream once its id is known. */
async function begin(input: string): Promise<string> {
  const stream = await client.responses.create({ model: MODEL, input, background: true, stream: true });
  for await (const event of stream) if (event.type === "response.created") return event.response.id;
  throw new Error("the stream ended without response.created");
}

async function ended(id: string): Promise<Response> {
  let response = await client.responses.retrieve(id);
  while (response.status === "queued" || response.status === "in_progress") {
    await new Promise((resolve) => setTimeout(resolve, 50));
    response = await client.responses.retrieve(id);
  }
  return response;
}

function numbers(events: readonly ResponseStreamEvent[]): readonly number[] {
  return events.map((event) => event.sequence_number);
}

/** Padding differs each time an event is sent. */
function comparable(event: ResponseStreamEvent): unknown {
  return { ...event, obfuscation: null };
}

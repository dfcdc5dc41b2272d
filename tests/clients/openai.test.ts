import OpenAI, { APIUserAbortError, AuthenticationError, BadRequestError, NotFoundError } from "openai";
import { zodTextFormat } from "openai/helpers/zod";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { verifies } from "../verifies.ts";
import { installedVersion } from "./installed-version.ts";
import { MODEL, startWithClient, WEATHER } from "./openai-client.ts";

/** A long answer that is unfinished when a client leaves. */
const ENDLESS = `
scenarios:
  - when: { input_contains: never ends }
    events:
      - text: It begins
      - delay_ms: 600000
      - text: and ends.
`;

const { server, client } = await startWithClient(ENDLESS);

describe(`openai ${installedVersion("openai")}`, () => {
  test("creates a response and reads its text", async () => {
    verifies("response.body.golden-key-set");
    const response = await client.responses.create({ model: MODEL, input: "Say hello" });
    expect(response.output_text).toMatch(/hello/i);
    expect(response).toMatchObject({ object: "response", status: "completed", model: MODEL, error: null });
    expect(response._request_id).toMatch(/^req_[0-9a-f]{32}$/);
  });

  test("streams raw events that are numbered from 0 and end once", async () => {
    const stream = await client.responses.create({ model: MODEL, input: "Count to 20", stream: true });
    const events = [];
    for await (const event of stream) events.push(event);
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
    expect(events.at(0)?.type).toBe("response.created");
    expect(events.at(-1)?.type).toBe("response.completed");
  });

  test("accumulates a stream with its strictest helper", async () => {
    verifies("responses.stream.node-helper-accepts");
    const stream = client.responses.stream({
      model: MODEL,
      input: "Count to 5",
      reasoning: { effort: "low", summary: "detailed" },
    });
    const seen: string[] = [];
    stream.on("response.output_text.delta", (event) => seen.push(event.delta));
    const final = await stream.finalResponse();
    expect(seen.join("")).toBe(final.output_text);
    expect(final.output.map((item) => item.type)).toEqual(["reasoning", "message"]);
    expect(final.usage?.total_tokens).toBe((final.usage?.input_tokens ?? 0) + (final.usage?.output_tokens ?? 0));
  });

  test("makes a round trip through a function", async () => {
    verifies("tools.function.output-continues-the-turn", "create.chain.continues-stored-response");
    const first = await client.responses.create({
      model: MODEL,
      input: "What is the weather in Paris?",
      tools: [WEATHER],
    });
    const call = first.output.find((item) => item.type === "function_call");
    expect(JSON.parse(call?.arguments ?? "{}")).toEqual({ city: "Paris" });
    const second = await client.responses.create({
      model: MODEL,
      previous_response_id: first.id,
      tools: [WEATHER],
      input: [{ type: "function_call_output", call_id: call?.call_id ?? "", output: "18 degrees" }],
    });
    expect(second.output_text).toContain("18 degrees");
  });

  test("makes the same round trip by sending items back, without storage", async () => {
    verifies("create.input.output-items-are-valid-input");
    const question = { role: "user", content: "What is the weather in Paris?" } as const;
    const first = await client.responses.create({ model: MODEL, input: [question], tools: [WEATHER], store: false });
    const call = first.output.find((item) => item.type === "function_call");
    const second = await client.responses.create({
      model: MODEL,
      store: false,
      tools: [WEATHER],
      input: [
        question,
        ...first.output.filter((item) => item.type === "function_call" || item.type === "message"),
        { type: "function_call_output", call_id: call?.call_id ?? "", output: "18 degrees" },
      ],
    });
    expect(second.output_text).toContain("18 degrees");
  });

  test("parses structured output with zod", async () => {
    verifies("create.text.structured-answer-is-output-text");
    const Event = z.object({ name: z.string(), attendees: z.array(z.string()), count: z.number().int() });
    const response = await client.responses.parse({
      model: MODEL,
      input: "Alice and Bob meet on Friday.",
      text: { format: zodTextFormat(Event, "event") },
    });
    expect(Event.safeParse(response.output_parsed).success).toBe(true);
  });

  test("retrieves, lists the input of, and deletes a response", async () => {
    const created = await client.responses.create({ model: MODEL, input: "Say hello" });
    const fetched = await client.responses.retrieve(created.id);
    expect({ ...fetched, _request_id: null }).toEqual({ ...created, _request_id: null });
    await client.responses.delete(created.id);
    await expect(client.responses.retrieve(created.id)).rejects.toBeInstanceOf(NotFoundError);
    await expect(client.responses.delete(created.id)).rejects.toBeInstanceOf(NotFoundError);
  });

  test("walks input items page by page, each once", async () => {
    verifies("lists.walk.each-item-once", "lists.query.order", "input-items.content.exactly-what-was-supplied");
    const input = Array.from({ length: 7 }, (_, index) => ({ role: "user" as const, content: `message ${index}` }));
    const { id } = await client.responses.create({ model: MODEL, input });
    const texts: string[] = [];
    for await (const item of client.responses.inputItems.list(id, { limit: 2, order: "asc" }))
      texts.push(JSON.stringify(item));
    expect(texts).toHaveLength(7);
    for (const [index, text] of texts.entries()) expect(text).toContain(`message ${index}`);
  });

  test("gets the client's error classes, with code and param", async () => {
    const stranger = new OpenAI({
      baseURL: `${server.url}/v1`,
      apiKey: "sk-wrong-key-0123456789abcdef",
      maxRetries: 0,
    });
    await expect(stranger.models.list()).rejects.toBeInstanceOf(AuthenticationError);
    const refused = client.responses.create({ model: "no-such-model", input: "Hi" });
    await expect(refused).rejects.toBeInstanceOf(BadRequestError);
    await expect(refused).rejects.toMatchObject({
      status: 400,
      code: "model_not_found",
      param: "model",
      type: "invalid_request_error",
    });
    const unknown = client.responses.retrieve("resp_unknown");
    await expect(unknown).rejects.toMatchObject({
      status: 404,
      error: { message: "Response with id 'resp_unknown' not found." },
    });
  });

  test("sees an unknown previous response as the reference's 400", async () => {
    const refused = client.responses.create({ model: MODEL, input: "Hi", previous_response_id: "resp_gone" });
    await expect(refused).rejects.toMatchObject({
      status: 400,
      code: "previous_response_not_found",
      param: "previous_response_id",
    });
  });

  test("lists models and fetches one", async () => {
    const names = [];
    for await (const model of client.models.list()) names.push(model.id);
    expect(names).toContain(MODEL);
    expect(await client.models.retrieve(MODEL)).toMatchObject({ id: MODEL, object: "model" });
  });

  test("aborts a stream, which ends the run as cancelled", async () => {
    const stream = await client.responses.create({ model: MODEL, input: "Tell me what never ends", stream: true });
    let id = "";
    for await (const event of stream) {
      if (event.type === "response.created") id = event.response.id;
      if (event.type === "response.output_text.delta") break;
    }
    await expect.poll(async () => (await client.responses.retrieve(id)).status).toBe("cancelled");
  });

  test("aborts a plain call", async () => {
    const controller = new AbortController();
    const call = client.responses.create(
      { model: MODEL, input: "Tell me what never ends" },
      { signal: controller.signal },
    );
    controller.abort();
    await expect(call).rejects.toBeInstanceOf(APIUserAbortError);
  });
});

import type { Response as ResponseBody } from "@antiphon/contracts/responses-api/types.ts";
import { validateCompactedResponse } from "@antiphon/contracts/responses-api/validators.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { checkReply, MODEL, missing } from "./check-refusal.ts";
import { PIXEL } from "./media-samples.ts";
import { readResponse, readStream } from "./read-stream.ts";

const message = (role: string, text: string, members: object = {}): object => ({
  type: "message",
  role,
  content: [{ type: role === "assistant" ? "output_text" : "input_text", text }],
  ...members,
});
const WEATHER = {
  type: "function",
  name: "get_weather",
  description: "Get the current weather for a location",
  parameters: { type: "object", properties: { location: { type: "string" } }, required: ["location"] },
};

/**
 * The HTTP cases of the Open Responses compliance suite, under its names. Those of WebSocket mode are in
 * tests/websocket.
 */
describe("Open Responses", () => {
  verifies("contract.parity.open-responses-suite");
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.close());

  /** A response that completed with a text. */
  const create = async (input: readonly object[], members: object = {}): Promise<ResponseBody> => {
    const body = await readResponse(await server.post("/v1/responses", { model: MODEL, input, ...members }));
    expect(body).toMatchObject({ object: "response", status: "completed", error: null });
    expect(body.output.length).toBeGreaterThan(0);
    return body;
  };

  test("basic-response", async () => {
    const { output } = await create([message("user", "Say hello in exactly 3 words.")]);
    expect(output.at(-1)).toMatchObject({ type: "message", role: "assistant", status: "completed" });
  });

  test("assistant-phase", async () => {
    for (const phase of ["commentary", "final_answer"]) {
      const said = message("assistant", "Let me see.", { phase });
      await create([message("user", "What is 2 + 2?"), said, message("user", "Well?")]);
    }
  });

  test("streaming-response", async () => {
    const input = [message("user", "Count from 1 to 5.")];
    const { events, final } = await readStream(
      await server.post("/v1/responses", { model: MODEL, input, stream: true }),
    );
    expect(events[0]?.type).toBe("response.created");
    expect(events.filter(({ type }) => type === "response.output_text.delta").length).toBeGreaterThan(1);
    expect(events.at(-1)?.type).toBe("response.completed");
    expect(final.output.length).toBeGreaterThan(0);
  });

  test("system-prompt", async () => {
    await create([message("system", "You are a pirate. Answer as one."), message("user", "Say hello.")]);
  });

  test("tool-calling", async () => {
    const question = message("user", "What is the weather like in San Francisco?");
    const { output } = await create([question], { tools: [WEATHER] });
    const calls = output.filter((item) => item.type === "function_call");
    expect(calls).toMatchObject([{ name: "get_weather", arguments: expect.stringContaining("location") }]);
    const answer = { type: "function_call_output", call_id: calls[0]?.call_id, output: "18 degrees" };
    const next = await create([question, ...output, answer], { tools: [WEATHER] });
    expect(next.output.at(-1)).toMatchObject({ type: "message" });
  });

  test("image-input", async () => {
    const content = [
      { type: "input_text", text: "What do you see?" },
      { type: "input_image", image_url: PIXEL },
    ];
    await create([{ type: "message", role: "user", content }]);
  });

  test("multi-turn", async () => {
    const { output } = await create([
      message("user", "My name is Ada."),
      message("assistant", "Hello Ada!"),
      message("user", "What is my name?"),
    ]);
    expect(JSON.stringify(output)).toContain("Ada");
  });

  test("compact-response", async () => {
    const input = [message("user", "My name is Ada."), message("assistant", "Hello Ada!")];
    const reply = await server.post("/v1/responses/compact", { model: MODEL, input });
    expect(reply.status).toBe(200);
    const body: unknown = await reply.json();
    expect(validateCompactedResponse(body), JSON.stringify(body)).toBe(true);
    expect(body).toMatchObject({ object: "response.compaction" });
  });

  test("compact-missing-model", async () => {
    await checkReply(await server.post("/v1/responses/compact", { input: "Hi" }), missing("model"));
  });
});

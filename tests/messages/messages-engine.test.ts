import { recordExchanges } from "@antiphon/base/exchanges/exchange-recording.ts";
import type { ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import { aRequest } from "@antiphon/domain/models/model-request.fixture.ts";
import type { ContextItem, ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { describe, expect, test } from "vitest";
import { collect } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { createMessagesEngine } from "../../src/model-engines/messages/engine.ts";
import { transcript } from "../../src/model-engines/model-server/reply/transcript.fixture.ts";
import { startTestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";

const SCENARIO = `scenarios:
  - when: { input_contains: count }
    events:
      - text: One two END three
  - when: { input_contains: break }
    events:
      - text: One
      - error: { message: The engine broke. }
  - when: { input_contains: busy }
    events:
      - refuse_turn: { status: 429, type: rate_limit_error, message: Slow down., retry_after_seconds: 2 }
`;

/** An engine whose model server is this program, with its built-in engine and its own door for messages. */
async function behindMessages(scenario?: string): Promise<ModelEngine> {
  const { url, apiKey } = await startTestServer(scenario === undefined ? {} : { scenario });
  return createMessagesEngine({
    baseUrl: url,
    apiKey,
    timeouts: { connectMs: 2000, idleMs: 10_000, totalMs: 20_000 },
  });
}

const unaborted = () => new AbortController().signal;
const user = (content: string): ContextItem => ({ type: "message", role: "user", content });

async function eventsOf(engine: ModelEngine, changes: Partial<ModelRequest>): Promise<readonly ModelEvent[]> {
  return await collect(await engine.sample(aRequest({ model: MODEL, ...changes }), unaborted()));
}

const MODEL = "antiphon-built-in";

test("a text comes through, with the counts of the server behind it", async () => {
  const engine = await behindMessages();
  const items = [user("Say hello.")];
  const events = await eventsOf(engine, { items });
  expect(transcript(events)).toMatch(/^model antiphon-built-in \| .+ \| usage [1-9]\d*\/0\/0 [1-9]\d*\/0 \| stop$/);
  const count = await engine.countTokens(aRequest({ model: MODEL, items }), unaborted());
  expect(count.exact).toBe(true);
  expect(count.tokens).toBeGreaterThan(0);
  expect((await engine.listModels(unaborted())).map(({ id }) => id)).toContain(MODEL);
});

test("reasoning comes back to the server behind with the signature that it gave", async () => {
  verifies("messages-engine.thinking.comes-back-to-the-letter");
  const engine = await behindMessages();
  const reasoning = { effort: "high", summary: null };
  const first = await eventsOf(engine, { items: [user("Hello.")], reasoning });
  const thought = first.map((event) => (event.type === "reasoning_delta" ? event.text : "")).join("");
  const seal = first.find((event) => event.type === "reasoning_sealed");
  if (seal === undefined) throw new Error("the reasoning has no seal");
  expect(thought).not.toBe("");
  const items: ContextItem[] = [
    user("Hello."),
    {
      type: "reasoning",
      summary: [],
      content: [{ type: "reasoning_text", text: thought }],
      encrypted_content: seal.sealedText,
    },
    { type: "message", role: "assistant", content: "Hello." },
    user("And now?"),
  ];
  let sent = "";
  const begin = ({ body }: { readonly body: string | readonly Uint8Array[] | null }) => {
    sent += typeof body === "string" || body === null ? "" : String(Buffer.concat(body));
    return null;
  };
  const request = aRequest({ model: MODEL, items, reasoning });
  const second = await collect(await recordExchanges({ begin }, () => engine.sample(request, unaborted())));
  expect(second.at(-1)).toEqual({ type: "finished", reason: "stop" });
  const signature: unknown = JSON.parse(seal.sealedText.split("\n")[1] ?? "").signature;
  expect(JSON.parse(sent).messages[1].content[0]).toEqual({ type: "thinking", thinking: thought, signature });
});

test("two calls at once get their outputs", async () => {
  const engine = await behindMessages();
  const tools: ModelRequest["tools"] = [
    {
      type: "function",
      name: "weather",
      description: "Tells the weather of a city.",
      parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      output_schema: null,
      strict: false,
    },
  ];
  const question = user("What is the weather in Paris and London?");
  const events = await eventsOf(engine, { items: [question], tools });
  const calls = events.flatMap((event) => (event.type === "call_started" ? [event] : []));
  expect(transcript(events)).toMatch(/weather#\S+\(\{"city":"Paris"\}\) \| weather#\S+\(\{"city":"London"\}\) \|/);
  const items: ContextItem[] = [
    question,
    ...calls.map(
      ({ callId, name }, place): ContextItem => ({
        type: "function_call",
        call_id: callId ?? "",
        name,
        arguments: JSON.stringify({ city: ["Paris", "London"][place] }),
      }),
    ),
    ...calls.map(
      ({ callId }, place): ContextItem => ({
        type: "function_call_output",
        call_id: callId ?? "",
        output: ["sunny", "grey"][place] ?? "",
      }),
    ),
  ];
  expect(transcript(await eventsOf(engine, { items, tools }))).toMatch(/sunny[^]*grey/);
});

describe("a scripted server", () => {
  test("ends at the stop sequence, and tells which", async () => {
    const engine = await behindMessages(SCENARIO);
    const extras = { standard: {}, unknown: {}, stop: ["END"] };
    expect(transcript(await eventsOf(engine, { items: [user("count")], extras }))).toContain(
      "| One two  | stops at END |",
    );
  });
  test("that fails fails the turn after what it said", async () => {
    const engine = await behindMessages(SCENARIO);
    const turn = await engine.sample(aRequest({ model: MODEL, items: [user("break")] }), unaborted());
    const said: ModelEvent[] = [];
    const reading = (async () => {
      for await (const batch of turn) said.push(...batch);
    })();
    await expect(reading).rejects.toMatchObject({ type: "server_error", message: expect.stringContaining("broke") });
    expect(transcript(said)).toContain("One");
  });
  test("that has no room refuses the turn, and says for how long", async () => {
    const engine = await behindMessages(SCENARIO);
    await expect(eventsOf(engine, { items: [user("busy")] })).rejects.toMatchObject({
      status: 429,
      code: "rate_limit_exceeded",
      retryAfterSeconds: 2,
    });
  });
  test("refuses what it refuses everywhere, with our words for it", async () => {
    const { url } = await startTestServer();
    const engine = createMessagesEngine({
      baseUrl: `${url}/v1`,
      apiKey: "wrong",
      timeouts: { connectMs: 2000, idleMs: 5000, totalMs: 5000 },
    });
    await expect(engine.sample(aRequest({ model: MODEL }), unaborted())).rejects.toMatchObject({
      status: 502,
      code: "model_authentication_failed",
    });
  });
});

import type { Response as ResponseBody } from "@antiphon/contracts/responses-api/types.ts";
import { describe, expect, test } from "vitest";
import { Antiphon } from "../../packages/client/src/index.ts";
import { lastChunk, sse, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { readUntil } from "../kit/event-stream.ts";
import {
  type Answer,
  type BehindUpstream,
  COUNTS,
  delta,
  serveBehind,
  toolDelta,
  usageChunk,
} from "../responses/behind-upstream.ts";
import { readResponse, readStream } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";

const INPUT = "How many tokens are these, and who has counted them? ".repeat(8);
const WORDS = ["One", " two", " three", " four", " five."];

/** Streams these chunks without token counts, and offers nothing else. */
function streams(...said: readonly unknown[]): Answer {
  return (response, { path }) => {
    if (!path.endsWith("/chat/completions")) return response.writeHead(404).end();
    return response.writeHead(200, { "content-type": "text/event-stream" }).end(sse(...said, "[DONE]"));
  };
}

const counts: Answer = streams(...WORDS.map(textChunk), lastChunk("stop"));

async function countInput({ server }: BehindUpstream): Promise<number> {
  const reply = await server.post("/v1/responses/input_tokens", { model: "m", input: INPUT });
  const { input_tokens: tokens }: { input_tokens: number } = await reply.json();
  return tokens;
}

/** What the stored response says of how its usage was found. */
async function usageNotes({ server }: BehindUpstream, id: string): Promise<readonly string[]> {
  const client = new Antiphon({ baseUrl: server.url, apiKey: server.apiKey });
  const { notes } = await client.listResponseExchanges(id);
  return notes.filter(({ what }) => what === "usage").map(({ kind, why }) => `${kind}: ${why}`);
}

const NOTE = ["emulated: The model server sent no token counts, so the usage is an estimate."];

type Way = "plain" | "streamed" | "in the background";

/** The final response to a request that is made in this way. */
async function answered({ create }: BehindUpstream, way: Way, members: object = {}): Promise<ResponseBody> {
  const request = { input: INPUT, ...members };
  if (way === "plain") return await readResponse(await create(request));
  return (await readStream(await create({ ...request, stream: true, background: way === "in the background" }))).final;
}

describe.each<Way>(["plain", "streamed", "in the background"])("a response that is made %s", (way) => {
  test("has an estimate where its model server counts no tokens: that of input_tokens, and a token for each chunk", async () => {
    verifies("chat-engine.usage.estimated", "chat-engine.usage.estimate-is-noted", "responses.count.equals-usage");
    const world = await serveBehind(counts);
    const { id, usage } = await answered(world, way);
    const inputTokens = await countInput(world);
    expect(usage).toMatchObject({ input_tokens: inputTokens, output_tokens: WORDS.length });
    expect(usage?.total_tokens).toBe(inputTokens + WORDS.length);
    expect(await usageNotes(world, id)).toEqual(NOTE);
  });

  test("never has more estimated output tokens than it may have", async () => {
    verifies("chat-engine.usage.estimated");
    const said = Array.from({ length: 40 }, (_, index) => textChunk(` ${index}`));
    const world = await serveBehind(streams(...said, lastChunk("length")));
    const { usage } = await answered(world, way, { max_output_tokens: 16 });
    expect(usage?.output_tokens).toBe(16);
  });

  test("has the numbers of a model server that counts, and no note", async () => {
    verifies("chat-engine.usage.estimate-is-noted");
    const usage = usageChunk({ prompt_tokens: 123, completion_tokens: 45, total_tokens: 168 });
    const world = await serveBehind(streams(textChunk("Hi"), lastChunk("stop"), usage));
    const made = await answered(world, way);
    expect(made.usage).toMatchObject({ input_tokens: 123, output_tokens: 45, total_tokens: 168 });
    expect(await usageNotes(world, made.id)).toEqual([]);
  });
});

test("a plain reply names estimated usage in its header, also where it is not stored", async () => {
  verifies("chat-engine.usage.estimate-is-noted");
  const world = await serveBehind(counts);
  for (const store of [true, false]) {
    const reply = await world.create({ store });
    expect(reply.headers.get("x-antiphon-emulated")).toBe("usage");
    await reply.text();
  }
});

test("reasoning and calls count as text does, by their chunks", async () => {
  verifies("chat-engine.usage.estimated");
  const said = [
    delta({ reasoning_content: "Let" }),
    delta({ reasoning_content: " me" }),
    toolDelta(0, { id: "call_1", type: "function", function: { name: "weather", arguments: "" } }),
    ...['{"', "city", '":"', "Oslo", '"}'].map((text) => toolDelta(0, { function: { arguments: text } })),
    lastChunk("tool_calls"),
  ];
  const world = await serveBehind(streams(...said));
  const tools = [{ type: "function", name: "weather", parameters: null, strict: false }];
  expect((await answered(world, "plain", { tools })).usage?.output_tokens).toBe(8);
});

test("an answer that is not streamed is estimated by its text", async () => {
  verifies("chat-engine.usage.estimated");
  const content = "This is one long sentence that came as a whole.";
  const world = await serveBehind((response, { path }) => {
    if (!path.endsWith("/chat/completions")) return response.writeHead(404).end();
    const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }];
    response.writeHead(200, { "content-type": "application/json" });
    return response.end(JSON.stringify({ id: "chatcmpl-1", object: "chat.completion", model: "m", choices }));
  });
  const { usage } = await answered(world, "plain");
  expect(usage).toMatchObject({ input_tokens: await countInput(world), output_tokens: Math.ceil(content.length / 4) });
});

test("an answer that this server cuts before its counts come has an estimate, too", async () => {
  verifies("chat-engine.usage.estimate-is-noted");
  const said = [textChunk("word ".repeat(1000)), lastChunk("stop"), COUNTS];
  const world = await serveBehind(streams(...said), { ANSWER_TEXT_CHARACTERS_MAX: "1024" });
  const { id, status, usage } = await answered(world, "plain");
  expect({ status, output: usage?.output_tokens }).toEqual({ status: "incomplete", output: 256 });
  expect(await usageNotes(world, id)).toEqual(NOTE);
});

test("a tokenizer of the model server counts the estimate, too, once it is known", async () => {
  verifies("chat-engine.usage.estimated");
  const world = await serveBehind((response, call) => {
    if (!call.path.endsWith("/extras/tokenize/count")) return counts(response, call);
    const { input }: { input: string } = JSON.parse(call.body);
    return response.end(JSON.stringify({ count: input.split(" ").length * 3 }));
  });
  const inputTokens = await countInput(world);
  expect(inputTokens).toBeGreaterThan(INPUT.split(" ").length * 3);
  expect((await answered(world, "plain")).usage?.input_tokens).toBe(inputTokens);
});

test("the text is shown before its tokens are counted, and nobody waits for the count when the client leaves", async () => {
  verifies("chat-engine.usage.estimated");
  const counting = Promise.withResolvers<void>();
  let isHeld = false;
  const world = await serveBehind((response, call) => {
    if (!call.path.endsWith("/extras/tokenize/count")) return counts(response, call);
    return isHeld ? counting.resolve() : response.end(JSON.stringify({ count: 7 }));
  });
  await countInput(world);
  isHeld = true;
  const reply = await world.create({ stream: true });
  await counting.promise;
  const id = /"id":"(resp_\w+)"/.exec(await readUntil(reply, " five."))?.[1] ?? "";
  const status = async () => (await readResponse(await world.server.fetch(`/v1/responses/${id}`))).status;
  await expect.poll(status).toBe("cancelled");
});

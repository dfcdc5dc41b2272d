import { describe, expect, test } from "vitest";
import type { ChatServer } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import type { TestServer } from "../kit/test-server.ts";
import { says, serveBehind } from "../responses/behind-upstream.ts";
import { verifies } from "../verifies.ts";
import { llamaCpp, ollama, vllm } from "./model-servers.fixture.ts";

const CREATE = {
  model: "m",
  instructions: "Be brief.",
  input: [
    { role: "user", content: "How is the weather in Oslo today?" },
    { role: "assistant", content: "It rains." },
    { role: "user", content: "And tomorrow?" },
  ],
};
const PIXEL =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

async function count(server: TestServer, body: object): Promise<{ tokens: number; header: string | null }> {
  const reply = await server.post("/v1/responses/input_tokens", body);
  expect(reply.status, await reply.clone().text()).toBe(200);
  const { input_tokens: tokens }: { input_tokens: number } = await reply.json();
  return { tokens, header: reply.headers.get("x-token-count") };
}

const SERVERS = { "llama.cpp": llamaCpp(4096), vLLM: vllm(4096) } as const;

describe.each(Object.entries(SERVERS))("in front of %s", (_name, answer) => {
  test("the model server's count is used, and equals its later report", async () => {
    verifies("responses.count.equals-usage", "responses.count.says-estimate", "responses.count.without-generating");
    const { server, create, upstream } = await serveBehind(answer);
    const counted = await count(server, CREATE);
    expect(upstream.calls.map(({ path }) => path)).not.toContain("/v1/chat/completions");
    expect(counted.header).toBe("exact");
    const reply = await create(CREATE);
    const { usage }: { usage: { input_tokens: number } } = await reply.json();
    expect(counted.tokens).toBe(usage.input_tokens);
  });

  test("the server's abilities are detected once", async () => {
    const { server, upstream } = await serveBehind(answer);
    await count(server, CREATE);
    const atFirst = upstream.calls.length;
    await count(server, CREATE);
    const then = upstream.calls.slice(atFirst).map(({ path }) => path);
    expect(then.length).toBeLessThanOrEqual(2);
    expect(then.at(-1)).toBe("/tokenize");
  });

  test("an image adds an estimate to the count", async () => {
    const { server } = await serveBehind(answer);
    const input = [
      {
        role: "user",
        content: [
          { type: "input_text", text: "What is it?" },
          { type: "input_image", image_url: PIXEL },
        ],
      },
    ];
    const { header, tokens } = await count(server, { model: "m", input });
    expect(header).toBe("estimate");
    expect(tokens).toBeGreaterThan(85);
  });
});

test("a server with a Responses API is asked through it", async () => {
  const bodies: unknown[] = [];
  const { server } = await serveBehind((response, { path, body }) => {
    response.writeHead(path === "/v1/responses/input_tokens" ? 200 : 404, { "content-type": "application/json" });
    if (path === "/v1/responses/input_tokens") bodies.push(JSON.parse(body));
    response.end(JSON.stringify({ object: "response.input_tokens", input_tokens: 321 }));
  });
  expect(await count(server, CREATE)).toEqual({ tokens: 321, header: "exact" });
  expect(bodies).toEqual([
    expect.objectContaining({ model: "m", instructions: "Be brief.", input: expect.any(Array) }),
  ]);
});

test("without help from the server, the tokenizer of the model's family estimates", async () => {
  const { server, upstream } = await serveBehind((response) => {
    response.writeHead(404);
    response.end();
  });
  const english = await count(server, { model: "gpt-4o", input: "The quick brown fox jumps over the lazy dog." });
  expect(english).toEqual({ tokens: 10 + 4 + 3, header: "estimate" });
  const asked = upstream.calls.length;
  const chinese = await count(server, { model: "gpt-4", input: "敏捷的棕色狐狸跳过了懒狗。" });
  expect(chinese.tokens).toBeGreaterThan(15);
  expect(upstream.calls).toHaveLength(asked);
});

test("a server that hangs delays a count only for a limited time", async () => {
  const { server } = await serveBehind(() => undefined);
  const begun = performance.now();
  const counted = await count(server, CREATE);
  expect(counted.header).toBe("estimate");
  expect(performance.now() - begun).toBeLessThan(8000);
}, 15_000);

const OLD = Array.from({ length: 40 }, (_, index) => [
  { role: "user", content: `Question ${index}: ${"word ".repeat(20)}` },
  { role: "assistant", content: `Answer ${index}: ${"word ".repeat(20)}` },
]).flat();
const LONG = { input: [{ role: "developer", content: "Stay polite." }, ...OLD, { role: "user", content: "And now?" }] };

interface Asked {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

function askedBy({ body }: { readonly body: string }): Asked {
  return JSON.parse(body);
}

function lastAsked({ calls }: ChatServer): Asked {
  return askedBy(calls.at(-1) ?? { body: "{}" });
}

const WINDOWED = { "llama.cpp": llamaCpp(600), vLLM: vllm(600), Ollama: ollama(600) } as const;

test.each(Object.entries(WINDOWED))("truncation respects the window that %s reports", async (name, answer) => {
  verifies("create.context.truncation-auto-drops-oldest");
  const { create, upstream } = await serveBehind(answer);
  const reply = await create({ ...LONG, truncation: "auto" });
  expect(reply.status, await reply.clone().text()).toBe(200);
  const { messages } = lastAsked(upstream);
  expect(messages[0]).toEqual({ role: "system", content: "Stay polite." });
  expect(messages[1]?.role).toBe("user");
  expect(messages.at(-1)).toEqual({ role: "user", content: "And now?" });
  const kept = messages.slice(1).map(({ content }) => content);
  expect(kept).toEqual([...OLD, LONG.input.at(-1)].slice(-kept.length).map((item) => item?.content));
  expect(kept.length).toBeGreaterThan(name === "Ollama" ? 5 : 10);
  expect(kept.length).toBeLessThan(40);
});

test.each([
  ["llama.cpp", llamaCpp(600)],
  ["vLLM", vllm(600)],
] as const)("without truncation, what is too long for %s is refused", async (_name, answer) => {
  verifies("errors.catalogue.context-length");
  const { create, upstream } = await serveBehind(answer);
  const reply = await create(LONG);
  expect(reply.status).toBe(400);
  expect(await reply.json()).toMatchObject({ error: { code: "context_length_exceeded", param: "input" } });
  expect(upstream.calls.map(({ path }) => path)).toEqual(["/v1/chat/completions"]);
});

test("llama-cpp-python counts without its template, and what it lacks is asked for once, by counts at a time, too", async () => {
  verifies("responses.count.without-generating", "responses.count.says-estimate");
  const { server, upstream } = await serveBehind((response, { path, body }) => {
    const isCount = path === "/extras/tokenize/count";
    response.writeHead(isCount ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(isCount ? { count: JSON.parse(body).input.length } : { detail: "Not Found" }));
  });
  const paths = () => upstream.calls.map(({ path }) => path);

  const [one, two] = await Promise.all([count(server, CREATE), count(server, CREATE)]);

  expect(one).toEqual({ tokens: expect.any(Number), header: "estimate" });
  expect(two).toEqual(one);
  const all = ["/tokenize", "/apply-template", "/v1/responses/input_tokens", "/extras/tokenize/count"];
  expect(paths()).toEqual([...all, "/extras/tokenize/count"]);
  await count(server, CREATE);
  expect(paths().slice(all.length)).toEqual(["/extras/tokenize/count", "/extras/tokenize/count"]);
});

test("a context that certainly fits is not counted, and the window is requested once", async () => {
  const { create, upstream } = await serveBehind(llamaCpp(4096));
  for (let turn = 0; turn < 3; turn += 1) await create({ input: "Hi", truncation: "auto" });
  expect(upstream.calls.filter(({ path }) => path === "/tokenize" || path === "/apply-template")).toEqual([]);
  expect(upstream.calls.filter(({ path }) => path.startsWith("/props"))).toHaveLength(1);
});

test("MODEL_CONTEXT_WINDOW is used if no server reports the window", async () => {
  const { create, upstream } = await serveBehind(says("Fine."), { MODEL_CONTEXT_WINDOW: "600" });
  expect((await create({ ...LONG, truncation: "auto" })).status).toBe(200);
  const { messages } = lastAsked(upstream);
  expect(messages.length).toBeLessThan(40);
});

test("the same model writes the summary of a compaction, and no longer sees the compacted items", async () => {
  const { create, server, upstream } = await serveBehind(llamaCpp(8192, "The user is Ada."));
  const first = await create({
    input: `I am Ada. ${"word ".repeat(1100)}`,
    context_management: [{ type: "compaction", compact_threshold: 1000 }],
  });
  const { id, output, usage }: { id: string; output: readonly { type: string }[]; usage: { input_tokens: number } } =
    await first.json();
  expect(output.map(({ type }) => type)).toEqual(["message", "compaction"]);
  expect(usage.input_tokens).toBeLessThan(1200);
  const asks = upstream.calls.filter(({ path }) => path === "/v1/chat/completions").map(askedBy);
  expect(asks).toHaveLength(2);
  expect(asks[1]?.messages.slice(0, 2)).toEqual([
    asks[0]?.messages[0],
    { role: "assistant", content: "The user is Ada." },
  ]);
  expect(asks[1]?.messages.at(-1)?.content).toMatch(/^Write a summary of this conversation\./);
  await server.post("/v1/responses", { model: "m", previous_response_id: id, input: "Who am I?" });
  const { messages } = lastAsked(upstream);
  expect(messages.map(({ role }) => role)).toEqual(["user", "user"]);
  expect(messages[0]?.content).toMatch(/summary.*\n\nThe user is Ada\.$/s);
});

test("a client that leaves during compaction stops the summary", async () => {
  const asked = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const answerFirst = llamaCpp(8192);
  const { create } = await serveBehind((response, call) => {
    if (!call.body.includes("Write a summary")) return answerFirst(response, call);
    asked.resolve();
    return call.closed.then(closed.resolve);
  });
  const leaving = new AbortController();
  const reply = create(
    { input: "word ".repeat(1100), context_management: [{ type: "compaction", compact_threshold: 1000 }] },
    leaving.signal,
  );
  await asked.promise;
  leaving.abort();
  await expect(reply).rejects.toThrow(/abort/i);
  await closed.promise;
});

test("concurrent compactions have a limit, and free their places", async () => {
  const held: (() => void)[] = [];
  const answer = llamaCpp(8192, "Summed up.");
  let holds = true;
  const { server } = await serveBehind((response, call) => {
    if (call.path === "/v1/chat/completions" && holds) held.push(() => answer(response, call));
    else answer(response, call);
  });
  const ask = (): Promise<Response> => server.post("/v1/responses/compact", { model: "m", input: "My name is Ada." });
  const first = Array.from({ length: 100 }, ask);
  await expect.poll(() => held.length, { timeout: 10_000 }).toBe(100);
  const refused = await ask();
  expect(refused.status).toBe(503);
  expect(refused.headers.get("retry-after")).toBe("1");
  expect(await refused.json()).toMatchObject({ error: { code: "server_is_overloaded" } });
  holds = false;
  for (const release of held) release();
  for (const reply of await Promise.all(first)) expect(reply.status).toBe(200);
  expect((await ask()).status).toBe(200);
}, 20_000);

test("without a tokenizer, a large image is not counted by the length of its data", async () => {
  const { create, server } = await serveBehind(says("A dot."));
  const picture = `${PIXEL.slice(0, -8)}${"A".repeat(400_000)}${PIXEL.slice(-8)}`;
  const content = [{ type: "input_image", image_url: picture }];
  const input = [{ role: "user", content }];
  const reply = await create({ input });
  expect(reply.status, await reply.clone().text()).toBe(200);
  const { usage }: { usage: { input_tokens: number } } = await reply.json();
  const counted = await server.post("/v1/responses/input_tokens", { model: "m", input });
  expect(await counted.json()).toMatchObject({ input_tokens: usage.input_tokens });
  expect(usage.input_tokens).toBeGreaterThanOrEqual(255); // One tile of the usual rule: the picture is a pixel.
  expect(usage.input_tokens).toBeLessThan(300);
});

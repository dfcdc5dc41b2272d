import OpenAI from "openai";
import { afterAll, expect, test } from "vitest";
import { startTestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";

const server = await startTestServer({
  scenario: `
models: [gpt-5-mini]
scenarios:
  - when: { input_contains: counting }
    events: [{ text: "one two three four" }]
  - when: { input_contains: too long }
    events: [{ text: This is too }, { finish: length }]
  - when: { input_contains: hello }
    events: [{ reasoning: Hm. }, { text: Hello there. }]
`,
});
afterAll(() => server.close());
const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey, maxRetries: 0 });
const model = "gpt-5-mini";

test("a prompt is completed, streamed or not", async () => {
  verifies("completions.create.answers");
  const { data, response } = await client.completions.create({ model, prompt: "hello" }).withResponse();
  expect(data.id).toBe((response.headers.get("x-antiphon-response-id") ?? "").replace("resp_", "cmpl-"));
  expect(data).toMatchObject({
    object: "text_completion",
    choices: [{ text: "Hello there.", index: 0, finish_reason: "stop", logprobs: null }],
    usage: { total_tokens: expect.any(Number) },
  });
  const stream = await client.completions.create({
    model,
    prompt: "hello",
    stream: true,
    stream_options: { include_usage: true },
  });
  const pieces = await Array.fromAsync(stream);
  expect(pieces.flatMap(({ choices }) => choices.map(({ text }) => text)).join("")).toBe("Hello there.");
  expect(pieces.at(-2)?.choices[0]?.finish_reason).toBe("stop");
  expect(pieces.at(-1)).toMatchObject({ choices: [], usage: data.usage });
});

test("several prompts have their texts in order, each after its prompt if asked for", async () => {
  verifies("completions.create.answers");
  const request = { model, prompt: ["hello", "counting"], n: 2, echo: true };
  const texts = ["helloHello there.", "helloHello there.", "countingone two", "countingone two"];
  const { choices } = await client.completions.create({ ...request, stop: [" three"] });
  expect(choices.map(({ text, index }) => [index, text])).toEqual([...texts.entries()]);
  const streamed = ["", "", "", ""];
  for await (const piece of await client.completions.create({ ...request, stop: " three", stream: true }))
    for (const { index, text } of piece.choices) streamed[index] += text;
  expect(streamed).toEqual(texts);
});

test("a text that is cut says so", async () => {
  const { choices } = await client.completions.create({ model, prompt: "too long" });
  expect(choices).toMatchObject([{ text: "This is too", finish_reason: "length" }]);
});

test.each<[string, object]>([
  ["logprobs", { logprobs: 1 }],
  ["suffix", { suffix: "end" }],
  ["best_of", { best_of: 3 }],
  ["n", { prompt: ["a", "b", "c"], n: 3 }],
  ["prompt", { prompt: [1, 2] }],
])("what a completion cannot do is refused by name: %s", async (param, members) => {
  verifies("completions.create.answers");
  const reply = await server.post("/v1/completions", { model, prompt: "hello", ...members });
  expect(reply.status).toBe(400);
  const { error } = await reply.json();
  expect(error.param).toMatch(new RegExp(`^${param}`));
});

test("members that nobody knows fail no request", async () => {
  const reply = await server.post("/v1/completions", { model, prompt: "hello", top_k: 3 });
  expect(reply.status).toBe(200);
  expect(reply.headers.get("x-antiphon-passed-on")).toBeNull(); // The built-in engine is sent none of them.
});

test.each(["/v1/chat/completions", "/v1/completions"])("an unknown model of %s is not found", async (path) => {
  verifies("chat.errors.before-the-stream");
  const members = { messages: [{ role: "user", content: "hello" }], prompt: "hello" };
  const reply = await server.post(path, { model: "no-such-model", ...members });
  expect(reply.status).toBe(404);
  expect(await reply.json()).toMatchObject({ error: { code: "model_not_found", param: "model" } });
});

import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";

const MODEL = "antiphon-built-in";
const PIXEL =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

async function start(env: Readonly<Record<string, string>> = {}): Promise<TestServer> {
  return await startTestServer({ env });
}

async function count(
  server: TestServer,
  body: object,
): Promise<{ status: number; tokens: number; header: string | null }> {
  const reply = await server.post("/v1/responses/input_tokens", body);
  const { input_tokens: tokens }: { input_tokens: number } = await reply.json();
  return { status: reply.status, tokens, header: reply.headers.get("x-token-count") };
}

async function createdUsage(server: TestServer, body: object): Promise<{ id: string; tokens: number }> {
  const reply = await server.post("/v1/responses", body);
  expect(reply.status, await reply.clone().text()).toBe(200);
  const { id, usage }: { id: string; usage: { input_tokens: number } } = await reply.json();
  return { id, tokens: usage.input_tokens };
}

const tool = {
  type: "function",
  name: "weather",
  strict: false,
  parameters: { type: "object", properties: { city: { type: "string" } } },
};
const REQUESTS: Readonly<Record<string, object>> = {
  "a text": { input: "How many tokens are these?" },
  "an empty text in a message": { input: [{ role: "user", content: "" }] },
  instructions: { instructions: "Answer in one word, always.", input: "Hi" },
  tools: { input: "Hi", tools: [tool], tool_choice: "none" },
  "a picture and a file": {
    input: [
      {
        role: "user",
        content: [
          { type: "input_text", text: "What are these?" },
          { type: "input_image", image_url: PIXEL },
          {
            type: "input_file",
            filename: "a.txt",
            file_data: `data:text/plain;base64,${btoa("Some words in a file.")}`,
          },
        ],
      },
    ],
  },
  "a call and its output": {
    tools: [tool],
    input: [
      { role: "user", content: "Weather in Oslo?" },
      { type: "function_call", call_id: "call_1", name: "weather", arguments: '{"city":"Oslo"}' },
      { type: "function_call_output", call_id: "call_1", output: "Rain, 4 degrees." },
    ],
  },
  "a top-level part": { input: [{ type: "input_text", text: "one two three" }] },
};

test.each(Object.entries(REQUESTS))("the count of %s is what a create call reports", async (_name, request) => {
  verifies("responses.count.equals-usage", "responses.count.says-estimate");
  const server = await start();
  const counted = await count(server, { model: MODEL, ...request });
  expect(counted).toMatchObject({ status: 200, header: "exact" });
  expect(counted.tokens).toBe((await createdUsage(server, { model: MODEL, ...request })).tokens);
});

test("a chain, a conversation and stored items count with all their content", async () => {
  verifies("responses.count.accepts-create-members");
  const server = await start();
  const first = await createdUsage(server, { model: MODEL, input: "My name is Ada and I like long sentences." });
  const chained = { previous_response_id: first.id, input: "What is my name?" };
  const inChain = await count(server, chained);
  expect(inChain.tokens).toBe((await createdUsage(server, { model: MODEL, ...chained })).tokens);
  expect(inChain.tokens).toBeGreaterThan(first.tokens);

  const made = await server.post("/v1/conversations", {
    items: [{ role: "user", content: "I live in Oslo, by the sea." }],
  });
  const { id }: { id: string } = await made.json();
  const talked = { conversation: id, input: "Where do I live?" };
  const inConversation = await count(server, { model: MODEL, ...talked });
  expect(inConversation.tokens).toBe((await createdUsage(server, { model: MODEL, ...talked })).tokens);

  const listed = await server.fetch(`/v1/responses/${first.id}/input_items`);
  const { data }: { data: readonly { id: string }[] } = await listed.json();
  const byReference = await count(server, { model: MODEL, input: [{ id: data[0]?.id }] });
  expect(byReference.tokens).toBe(first.tokens);
});

test("an empty body is counted with the first model", async () => {
  const server = await start();
  for (const body of [undefined, "{}"]) {
    const reply = await server.fetch("/v1/responses/input_tokens", {
      method: "POST",
      headers: { "content-type": "application/json" },
      ...(body === undefined ? {} : { body }),
    });
    expect(reply.status).toBe(200);
    expect(await reply.json()).toEqual({ object: "response.input_tokens", input_tokens: 0 });
  }
  expect((await count(server, { input: "Hi", personality: "friendly", truncation: "disabled" })).status).toBe(200);
});

test("counting refuses what a create call refuses", async () => {
  const server = await start();
  const cases: readonly (readonly [object, number, string])[] = [
    [{ model: "no-such-model", input: "Hi" }, 400, "model_not_found"],
    [{ previous_response_id: "resp_unknown", input: "Hi" }, 400, "previous_response_not_found"],
    [{ previous_response_id: "resp_a", conversation: "conv_a" }, 400, "mutually_exclusive_parameters"],
    [{ input: [{ type: "item_reference", id: "msg_unknown" }] }, 404, "invalid_request_error"],
    [{ input: "Hi", nonsense: 1 }, 400, "unknown_parameter"],
    [{ input: 7 }, 400, "invalid_type"],
    [{ input: [{ type: "compaction", encrypted_content: "AAAA" }] }, 400, "invalid_encrypted_content"],
  ];
  for (const [body, status, code] of cases) {
    const reply = await server.post("/v1/responses/input_tokens", body);
    expect(reply.status, JSON.stringify(body)).toBe(status);
    expect(await reply.json()).toMatchObject({ error: { code } });
  }
});

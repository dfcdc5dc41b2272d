import { expect, test } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import { Antiphon, AntiphonSpeech, APITimeoutError, APIUserAbortError } from "../index.ts";
import { eventText, openEvents, sendJson, startLocalServer } from "./local-server.fixture.ts";

test.each(["", "/", "/v1", "/v1/"])(
  "a base URL that ends in '%s' and a key are enough to call a provider",
  async (end) => {
    verifies("client.providers.swappable");
    await using server = await startLocalServer((reply) => sendJson(reply, 200, {}));
    await new Antiphon({ baseUrl: server.url + end, apiKey: "sk-1" }).createResponse({ model: "m", input: "hi" });
    const [request] = server.requests;
    expect(request).toMatchObject({ method: "POST", url: "/v1/responses", body: '{"model":"m","input":"hi"}' });
    expect(request?.headers).toMatchObject({ authorization: "Bearer sk-1", "content-type": "application/json" });
  },
);

test("headers of a call override those of the client, which override the defaults", async () => {
  await using server = await startLocalServer((reply) => sendJson(reply, 200, {}));
  const client = new Antiphon({
    baseUrl: server.url,
    apiKey: "sk-1",
    defaultHeaders: { Authorization: "Bearer other", "OpenAI-Project": "a", Accept: "x/y" },
  });
  await client.listModels({ headers: { "openai-project": "b" } });
  expect(server.requests[0]?.headers).toMatchObject({
    authorization: "Bearer other",
    "openai-project": "b",
    accept: "x/y",
  });
});

test("a call without a key sends no authorization", async () => {
  await using server = await startLocalServer((reply) => sendJson(reply, 200, {}));
  await new Antiphon({ baseUrl: server.url }).listModels();
  expect(server.requests[0]?.headers).not.toHaveProperty("authorization");
});

test("lists in a query are written as name[], and missing members are left out", async () => {
  await using server = await startLocalServer((reply) => sendJson(reply, 200, {}));
  await new Antiphon({ baseUrl: server.url }).listInputItems("resp_1/2", {
    limit: 3,
    history: false,
    include: ["message.output_text.logprobs", "reasoning.encrypted_content"],
  });
  expect(decodeURIComponent(server.requests[0]?.url.replaceAll("%2F", "~") ?? "")).toBe(
    "/v1/responses/resp_1~2/input_items?limit=3&history=false&include[]=message.output_text.logprobs&include[]=reasoning.encrypted_content",
  );
});

test("a form carries files with name and type, and members of objects in brackets", async () => {
  await using server = await startLocalServer((reply) => sendJson(reply, 200, {}));
  await new Antiphon({ baseUrl: server.url }).createFile({
    file: { filename: "a.txt", mimeType: "text/x-a", bytes: new TextEncoder().encode("abc") },
    purpose: "user_data",
    expires_after: { anchor: "created_at", seconds: 3600 },
  });
  const { headers, body } = server.requests[0] ?? { headers: {}, body: "" };
  const form = await new Response(body, { headers: { "content-type": headers["content-type"] ?? "" } }).formData();
  const file = form.get("file");
  expect(file).toMatchObject({ name: "a.txt", type: "text/x-a" });
  expect(file instanceof File && (await file.text())).toBe("abc");
  form.delete("file");
  expect(Object.fromEntries(form)).toEqual({
    purpose: "user_data",
    "expires_after[anchor]": "created_at",
    "expires_after[seconds]": "3600",
  });
});

test("a file or a blob can be uploaded, and again if the first attempt fails", async () => {
  await using server = await startLocalServer((reply, _, count) =>
    sendJson(reply, count === 1 ? 503 : 200, { text: "hi", duration_ms: 1 }, { "retry-after-ms": "1" }),
  );
  const audio = new File(["RIFF"], "talk.wav", { type: "audio/wav" });
  expect(await new AntiphonSpeech({ baseUrl: server.url }).transcribe({ audio })).toEqual({
    text: "hi",
    duration_ms: 1,
  });
  expect(server.requests.map(({ body }) => body.includes('filename="talk.wav"') && body.includes("RIFF"))).toEqual([
    true,
    true,
  ]);
});

test("text and bytes are returned as such", async () => {
  await using server = await startLocalServer(
    (reply, { url }) => void reply.end(url === "/metrics" ? "up 1\n" : Buffer.of(0, 255)),
  );
  const client = new Antiphon({ baseUrl: server.url });
  expect(await client.getMetrics()).toBe("up 1\n");
  expect(await client.downloadFile("file_1")).toEqual(Uint8Array.of(0, 255));
});

test("members that the contract does not know are passed on", async () => {
  verifies("client.readers.unknown-members-ignored");
  const reply = { id: "resp_1", status: "from_the_future", output: [{ type: "hologram", depth: 3 }], brand_new: true };
  await using server = await startLocalServer((response) => sendJson(response, 200, reply));
  expect(await new Antiphon({ baseUrl: server.url }).getResponse("resp_1")).toEqual(reply);
});

test("another function can replace fetch", async () => {
  const urls: string[] = [];
  const client = new Antiphon({
    baseUrl: "https://example.test/v1",
    fetch: (url) => {
      urls.push(url);
      return Promise.resolve(Response.json({ object: "list", data: [] }));
    },
  });
  expect(await client.listModels()).toEqual({ object: "list", data: [] });
  expect(urls).toEqual(["https://example.test/v1/models"]);
});

test.each(["before the reply", "within the reply"])("a server that is silent %s causes a timeout", async (when) => {
  await using server = await startLocalServer((reply) => {
    if (when === "within the reply") reply.writeHead(200, { "content-length": "9" }).write("{");
  });
  const call = new Antiphon({ baseUrl: server.url, timeoutMs: 50, retriesMax: 0 }).listModels();
  await expect(call).rejects.toBeInstanceOf(APITimeoutError);
  await server.closed;
});

test("a call may have its own timeout, and an attempt that times out is retried", async () => {
  await using server = await startLocalServer((reply, _, count) => {
    if (count === 2) sendJson(reply, 200, { object: "list", data: [] });
  });
  await new Antiphon({ baseUrl: server.url }).listModels({ timeoutMs: 100, retriesMax: 1 });
  expect(server.requests).toHaveLength(2);
});

test("a stream that falls silent times out, and one that continues does not", async () => {
  await using server = await startLocalServer(async (reply) => {
    openEvents(reply);
    for (let beat = 0; beat < 4; beat += 1) {
      reply.write(eventText({ type: "keepalive" }));
      await new Promise((resolve) => setTimeout(resolve, 400));
    }
  });
  const stream = await new Antiphon({ baseUrl: server.url, timeoutMs: 1_000 }).createResponse({
    model: "m",
    stream: true,
  });
  let events = 0;
  const reading = (async () => {
    for await (const _ of stream) events += 1;
  })();
  await expect(reading).rejects.toBeInstanceOf(APITimeoutError);
  expect(events).toBe(4);
  await server.closed;
});

test("a slow reader does not cause a timeout", async () => {
  await using server = await startLocalServer((reply) => {
    openEvents(reply);
    reply.end(eventText({ type: "keepalive" }) + eventText({ type: "response.completed" }));
  });
  const stream = await new Antiphon({ baseUrl: server.url, timeoutMs: 50 }).createResponse({
    model: "m",
    stream: true,
  });
  let events = 0;
  for await (const _ of stream) {
    events += 1;
    await new Promise((resolve) => setTimeout(resolve, 120));
  }
  expect(events).toBe(2);
});

test.each(["before the reply", "within the reply"])(
  "an abort %s ends the call and closes the connection",
  async (when) => {
    verifies("client.abort.signal-ends-call");
    const controller = new AbortController();
    await using server = await startLocalServer((reply) => {
      if (when === "within the reply") reply.writeHead(200, { "content-length": "9" }).write("{");
      setTimeout(() => controller.abort(), 30);
    });
    const call = new Antiphon({ baseUrl: server.url }).listModels({ signal: controller.signal });
    await expect(call).rejects.toBeInstanceOf(APIUserAbortError);
    await server.closed;
    expect(server.requests).toHaveLength(1);
  },
);

test("nothing is sent if the signal has already aborted", async () => {
  verifies("client.abort.signal-ends-call");
  await using server = await startLocalServer((reply) => sendJson(reply, 200, {}));
  const call = new Antiphon({ baseUrl: server.url }).listModels({ signal: AbortSignal.abort() });
  await expect(call).rejects.toBeInstanceOf(APIUserAbortError);
  expect(server.requests).toHaveLength(0);
});

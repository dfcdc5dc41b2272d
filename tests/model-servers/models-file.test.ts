import { setImmediate } from "node:timers/promises";
import { isRecord } from "@antiphon/base/json/records.ts";
import { expect, test } from "vitest";
import { type Answer, says } from "../responses/behind-upstream.ts";
import { serveSlowModel } from "../runs/slow-model.ts";
import { verifies } from "../verifies.ts";
import { refuses, resets, saysWell, serveSeveral } from "./several-servers.ts";

function bodyOf(json: string | undefined): Readonly<Record<string, unknown>> {
  const body: unknown = JSON.parse(json ?? "null");
  if (!isRecord(body)) throw new Error("the model server got no object");
  return body;
}

/** Lists one model. */
const lists: Answer = (response, call) => {
  if (!call.path.endsWith("/models")) return saysWell(response, call);
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ data: [{ id: "qwen3" }, { id: "llama4" }] }));
};

test("names, patterns and the default lead to models of the servers", async () => {
  verifies("models.file.names");
  const { server, callsOf } = await serveSeveral(
    { local: lists, hosted: saysWell },
    `  fast: local/qwen3
  "claude-*": hosted/large
  "local/*": local/*
default: fast`,
  );
  const askedFor = async (model: string): Promise<unknown[]> => {
    const before = [callsOf("local").length, callsOf("hosted").length];
    const reply = await server.post("/v1/responses", { model, input: "Hi" });
    const told: unknown = await reply.json();
    expect(reply.status).toBe(200);
    const calls = [...callsOf("local").slice(before[0]), ...callsOf("hosted").slice(before[1])];
    return [isRecord(told) ? told["model"] : null, bodyOf(calls.find(({ body }) => body !== "")?.body)["model"]];
  };
  expect(await askedFor("fast")).toEqual(["fast", "qwen3"]);
  expect(await askedFor("claude-sonnet-9")).toEqual(["claude-sonnet-9", "large"]);
  expect(await askedFor("local/llama4")).toEqual(["local/llama4", "llama4"]);
  expect(await askedFor("gpt-anything")).toEqual(["gpt-anything", "qwen3"]);
  const { data }: { data: { id: string }[] } = await (await server.fetch("/v1/models")).json();
  expect(data.map(({ id }) => id)).toEqual(["fast", "local/qwen3", "local/llama4"]);
});

test("a model that nothing leads to does not exist, and the nearest one is named", async () => {
  const { server } = await serveSeveral({ local: saysWell }, "  chat: local/a");
  const reply = await server.post("/v1/responses", { model: "chatt", input: "Hi" });
  expect([reply.status, await reply.json()]).toMatchObject([400, { error: { code: "model_not_found" } }]);
});

test("defaults fill what a request leaves out, and its own members win", async () => {
  verifies("models.file.defaults");
  const { server, callsOf } = await serveSeveral(
    { local: saysWell },
    `  pirate:
    route: local/a
    instructions: Speak like a pirate.
    temperature: 0.2
    max_output_tokens: 100
    tools: [{ type: function, name: look, parameters: { type: object } }]`,
  );
  await server.post("/v1/chat/completions", { model: "pirate", messages: [{ role: "user", content: "Hi" }] });
  expect(bodyOf(callsOf("local").at(-1)?.body)).toMatchObject({
    messages: [{ role: "system", content: "Speak like a pirate." }, { role: "user" }],
    temperature: 0.2,
    max_tokens: 100,
    tools: [{ function: { name: "look" } }],
  });
  await server.post("/v1/responses", { model: "pirate", input: "Hi", instructions: "Be brief.", temperature: 1 });
  expect(bodyOf(callsOf("local").at(-1)?.body)).toMatchObject({
    messages: [{ role: "system", content: "Be brief." }, { role: "user" }],
    temperature: 1,
  });
});

test("a model of some owners is hidden from others", async () => {
  verifies("models.file.owners");
  const { server } = await serveSeveral(
    { local: saysWell },
    `  ours: { route: local/a, owners: [acme] }
  theirs: { route: local/a, owners: [globex/web] }
  hidden: { route: local/a, listed: false }`,
    { env: { API_KEYS: "sk-ours=acme/web" } },
  );
  const { data }: { data: { id: string }[] } = await (await server.fetch("/v1/models")).json();
  expect(data.map(({ id }) => id)).toEqual(["ours"]);
  const ask = async (model: string) => (await server.post("/v1/responses", { model, input: "Hi" })).status;
  for (const path of ["/v1/responses/compact", "/v1/responses/input_tokens"])
    expect((await server.post(path, { model: "theirs", input: "Hi" })).status).toBe(400);
  expect((await server.fetch("/v1/models/theirs")).status).toBe(404);
  expect([await ask("ours"), await ask("hidden"), await ask("theirs")]).toEqual([200, 200, 400]);
});

test("a change of the file is followed, and a broken file changes nothing", async () => {
  verifies("models.file.reloads");
  const { server, rewrite } = await serveSeveral({ first: refuses(500), second: saysWell }, "  chat: first/a");
  const status = async () => (await server.post("/v1/responses", { model: "chat", input: "Hi" })).status;
  expect(await status()).toBe(500);
  rewrite("  chat: second/a");
  process.emit("SIGHUP");
  expect(await status()).toBe(200);
  rewrite("  chat: nowhere/a");
  process.emit("SIGHUP");
  expect(await status()).toBe(200);
  rewrite("  chat: first/a");
  await expect.poll(status, { timeout: 20_000, interval: 200 }).toBe(500); // Nobody tells it: it looks by itself.
});

test("a server is ready while one of its model servers answers", async () => {
  verifies("models.file.names");
  const { server } = await serveSeveral({ first: resets, second: lists }, "  chat: [first/a, second/b]");
  const model = async (): Promise<unknown> => {
    const { checks }: { checks: { model: unknown } } = await (await server.fetch("/readyz")).json();
    return checks.model;
  };
  await expect.poll(model).toBe("ok");
  const away = await serveSeveral({ first: resets }, "  chat: first/a");
  await expect
    .poll(async () => {
      const { checks }: { checks: { model: unknown } } = await (await away.server.fetch("/readyz")).json();
      return checks.model;
    })
    .toBe("unavailable");
});

test("prices of the file are those of its models", async () => {
  verifies("models.file.prices");
  const { server } = await serveSeveral(
    { local: saysWell },
    `  chat: { route: local/a, price: { input: 1000000, output: 0 } }`,
  );
  await server.post("/v1/responses", { model: "chat", input: "Hi" });
  const { data }: { data: { price: unknown; usage: { input_tokens: number } }[] } = await (
    await server.fetch("/v1/responses")
  ).json();
  expect(data[0]?.price).toMatchObject({ amount: data[0]?.usage.input_tokens, currency: "USD" });
});

test("requests are spread by load and weight, and a conversation stays where its prefix is cached", async () => {
  verifies("models.balance.spread");
  const { server, turnsOf } = await serveSeveral(
    { one: saysWell, two: saysWell },
    "  chat: { spread: true, route: [one/a, two/a] }",
  );
  const ask = (input: string) => server.post("/v1/responses", { model: "chat", input, store: false });
  await Promise.all(Array.from({ length: 20 }, async (_, index) => (await ask(`Question ${index}`)).text()));
  expect(Math.min(turnsOf("one"), turnsOf("two"))).toBeGreaterThan(3);
  const before = [turnsOf("one"), turnsOf("two")];
  for (let turn = 0; turn < 6; turn += 1) await (await ask("The same question")).text();
  const [one = 0, two = 0] = before;
  expect([turnsOf("one") - one, turnsOf("two") - two].toSorted((a, b) => a - b)).toEqual([0, 6]);
});

test("requests above a server's limit wait, and go elsewhere if too many wait", async () => {
  verifies("models.balance.queue");
  const slow = await serveSlowModel();
  const { server, turnsOf } = await serveSeveral(
    { first: (response, call) => forward(slow.server.url, slow.server.apiKey, response, call.body), second: saysWell },
    "  chat: [first/m, second/b]",
    { entries: { first: "requests_max: 1, queue_max: 0" } },
  );
  const held = server.post("/v1/responses", { model: "chat", input: "Hold", store: false });
  const call = await slow.call(0);
  const other = await server.post("/v1/responses", { model: "chat", input: "Other", store: false });
  expect(await other.text()).toContain("Well done");
  expect([turnsOf("first"), turnsOf("second")]).toEqual([1, 1]);
  call.say("At last");
  call.finish();
  expect(await (await held).text()).toContain("At last");
});

test("keys take turns at a server, however much each of them asks", async () => {
  verifies("models.balance.turns");
  const answers: ((text: string) => void)[] = [];
  const order: string[] = [];
  const { server } = await serveSeveral(
    {
      first: (response, call) => {
        if (call.path.endsWith("/models")) return lists(response, call);
        order.push(/Question (\w+)/.exec(call.body)?.[1] ?? "");
        answers.push((text) => void says(text)(response, call));
      },
    },
    "  chat: first/m",
    { entries: { first: "requests_max: 1, queue_max: 100" }, env: { API_KEYS: KEYS.join(",") } },
  );
  const ask = async (key: string, name: string): Promise<void> => {
    const reply = await fetch(`${server.url}/v1/responses`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "chat", input: `Question ${name}`, store: false }),
    });
    expect([reply.status, await reply.text()]).toEqual([200, expect.stringContaining(`To ${name}`)]);
  };
  const isWaiting = async (count: number): Promise<void> => {
    while (!(await (await server.fetch("/metrics")).text()).includes(`{server="first"} ${count}\n`))
      await setImmediate();
  };
  const [a = "", b = "", c = ""] = KEYS;
  const asked = [ask(a, "a0")];
  while (order.length === 0) await setImmediate();
  const waiting = [
    [a, "a1"],
    [a, "a2"],
    [a, "a3"],
    [b, "b1"],
    [b, "b2"],
    [c, "c1"],
  ] as const;
  for (const [index, [key, name]] of waiting.entries()) {
    asked.push(ask(key, name));
    await isWaiting(index + 1);
  }
  for (let turn = 0; turn <= waiting.length; turn += 1) {
    while (order.length <= turn) await setImmediate();
    answers[turn]?.(`To ${order[turn]}`);
  }
  await Promise.all(asked);
  expect(order).toEqual(["a0", "a1", "b1", "c1", "a2", "b2", "a3"]);
});

/** Of one owner. */
const KEYS = ["sk-first-0123456789", "sk-second-0123456789", "sk-third-0123456789"];

/** Passes a turn on to a server whose model answers when the test says so. */
async function forward(url: string, key: string, response: Parameters<Answer>[0], body: string): Promise<void> {
  const reply = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body,
  });
  response.writeHead(reply.status, { "content-type": "text/event-stream" });
  if (reply.body !== null) for await (const piece of reply.body) response.write(piece);
  response.end();
}

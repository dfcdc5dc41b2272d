import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { lastChunk, serveChat, sse, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { type ChildServer, startChildServer } from "../kit/child-server.ts";
import { verifies } from "../verifies.ts";
import { ask, PROXIES, type StartedProxy, textOf } from "./proxies.ts";

const TEST_TIMEOUT_MS = 240_000;
/** `make deploy-test` sets it: more than a minute of silence, and times that only mean something on an idle machine. */
const isLong = process.env["DEPLOY_TEST"] === "1";
const SILENCE_MS = 70_000;
/** The largest body that the server takes by default. */
const BODY_BYTES = 64 * 1024 * 1024;

const WORDS = ["One ", "two ", "three ", "four ", "five "];

describe.each(PROXIES)("behind $title", { timeout: TEST_TIMEOUT_MS }, (kind) => {
  test.skipIf(kind.whySkipped !== "")(
    "every delta passes before the next is written, over SSE and WebSocket",
    async () => {
      verifies("operations.deploy.proxies");
      const model = await serveInSteps();
      const { server, proxy } = await startBehind(kind, { MODEL_BASE_URL: model.url });
      // A proxy that holds a delta back would wait for ever, because the next one is written after it has arrived.
      expect(await streamedText(proxy, server, model.step)).toBe(WORDS.join(""));
      expect(await socketText(proxy, server, model.step)).toBe(WORDS.join(""));
      const body = bodyOf(BODY_BYTES - 1024);
      const { status } = await ask(proxy, "/v1/responses/input_tokens", {
        method: "POST",
        headers: headersOf(server),
        body,
      });
      expect(status).not.toBe(413); // The proxy's own refusal.
      expect(status).toBeLessThan(500);
    },
  );

  test.skipIf(kind.whySkipped !== "" || !isLong)(`${SILENCE_MS / 1000} seconds of silence break nothing`, async () => {
    verifies("operations.deploy.proxies");
    const model = await serveChat(async (response, { path }) => {
      if (!path.endsWith("/chat/completions")) return response.writeHead(404).end();
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(sse(textChunk("Before ")));
      await sleep(SILENCE_MS);
      response.end(sse(textChunk("after"), lastChunk("stop"), "[DONE]"));
    });
    const env = { MODEL_BASE_URL: `${model.origin}/v1`, SSE_KEEP_ALIVE_MS: "0" };
    const { server, proxy } = await startBehind(kind, env);
    const [streamed, onSocket, plain] = await Promise.all([
      streamedText(proxy, server),
      socketText(proxy, server),
      ask(proxy, "/v1/responses", { method: "POST", headers: headersOf(server), body: JSON.stringify(ASKED) }).then(
        textOf,
      ),
    ]);
    expect([streamed, onSocket]).toEqual(["Before after", "Before after"]);
    expect(JSON.parse(plain)).toMatchObject({ status: "completed" });
  });

  test.skipIf(kind.whySkipped !== "" || !isLong)("deltas arrive with the gaps that the model leaves", async () => {
    verifies("operations.deploy.proxies");
    const written: number[] = [];
    const model = await serveChat(async (response, { path }) => {
      if (!path.endsWith("/chat/completions")) return response.writeHead(404).end();
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (let word = 0; word < 40; word++) {
        written.push(performance.now());
        response.write(sse(textChunk(`word${word} `)));
        await sleep(word % 4 === 3 ? 400 : 50);
      }
      response.end(sse(lastChunk("stop"), "[DONE]"));
    });
    const { server, proxy } = await startBehind(kind, { MODEL_BASE_URL: `${model.origin}/v1` });
    const arrived: number[] = [];
    await streamedText(proxy, server, () => void arrived.push(performance.now()));
    const off = gaps(arrived).map((gap, index) => Math.abs(gap - (gaps(written)[index] ?? 0)));
    const sorted = off.toSorted((one, other) => one - other);
    console.log(
      `${kind.name}: ${off.length} gaps of 50 and 400 ms differ by ${ms(sorted[Math.floor(off.length / 2)])} in the median, ${ms(sorted.at(-1))} at most`,
    );
    expect(arrived).toHaveLength(written.length);
    expect(sorted[Math.floor(off.length / 2)]).toBeLessThan(50); // A busy machine stands still now and then.
  });
});

function gaps(times: readonly number[]): readonly number[] {
  return times.slice(1).map((time, index) => time - (times[index] ?? 0));
}

function ms(value = 0): string {
  return `${value.toFixed(1)} ms`;
}

async function startBehind(kind: (typeof PROXIES)[number], env: Readonly<Record<string, string>>) {
  const server = await startChildServer({ env: { NODE_ENV: "production", ...env } });
  return { server, proxy: await kind.start(server) };
}

/** A model that writes each word when it is told to. */
async function serveInSteps(): Promise<{ readonly url: string; readonly step: () => void }> {
  let [allowed, wake] = [1, (): void => {}];
  const model = await serveChat(async (response, { path }) => {
    if (!path.endsWith("/chat/completions")) return response.writeHead(404).end(); // What can the model do?
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const [index, word] of WORDS.entries()) {
      while (allowed <= index) await new Promise<void>((resolve) => (wake = resolve));
      response.write(sse(textChunk(word)));
    }
    while (allowed <= WORDS.length) await new Promise<void>((resolve) => (wake = resolve));
    allowed = 1;
    return response.end(sse(lastChunk("stop"), "[DONE]"));
  });
  const step = (): void => {
    allowed += 1;
    wake();
  };
  return { url: `${model.origin}/v1`, step };
}

const ASKED = { model: "m", input: "Tell" };

function headersOf({ apiKey }: ChildServer): Record<string, string> {
  return { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
}

/** The text of a streamed response. `onDelta` is called for each delta that arrives. */
async function streamedText(proxy: StartedProxy, server: ChildServer, onDelta = (): void => {}): Promise<string> {
  const body = JSON.stringify({ ...ASKED, stream: true });
  const reply = await ask(proxy, "/v1/responses", { method: "POST", headers: headersOf(server), body });
  expect(reply.status).toBe(200);
  let [text, rest] = ["", ""];
  for await (const piece of reply.body.setEncoding("utf8")) {
    const lines = (rest + String(piece)).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const delta = deltaIn(line.replace(/^data: /, ""));
      if (delta === null) continue;
      text += delta;
      onDelta();
    }
  }
  return text;
}

async function socketText(proxy: StartedProxy, server: ChildServer, onDelta = (): void => {}): Promise<string> {
  const url = `${proxy.url.replace("https", "wss")}/v1/responses`;
  const socket = new WebSocket(url, { ca: proxy.certificate, headers: headersOf(server) });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = "";
  socket.on("error", reject);
  socket.on("open", () => socket.send(JSON.stringify({ type: "response.create", ...ASKED })));
  socket.on("message", (data: Buffer) => {
    const frame = data.toString();
    const delta = deltaIn(frame);
    if (delta !== null) {
      text += delta;
      onDelta();
    }
    if (frame.includes('"type":"response.completed"')) resolve(text);
  });
  socket.on("close", (code) => reject(new Error(`the socket was closed with ${code}`)));
  return await promise.finally(() => socket.terminate());
}

function deltaIn(line: string): string | null {
  return /"type":"response\.output_text\.delta".*"delta":"([^"]*)"/.exec(line)?.[1] ?? null;
}

/** A request of exactly this size. */
function bodyOf(bytes: number): Buffer {
  const [head, tail] = ['{"model":"m","input":"', '"}'];
  return Buffer.concat([Buffer.from(head), Buffer.alloc(bytes - head.length - tail.length, "a "), Buffer.from(tail)]);
}

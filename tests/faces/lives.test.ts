import { expect, test } from "vitest";
import { lastChunk, serveChat, sse, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { until } from "../crash/lives.ts";
import { type ChildServer, startChildServer } from "../kit/child-server.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { serveSlowModel } from "../runs/slow-model.ts";
import { verifies } from "../verifies.ts";

const MESSAGES = [{ role: "user", content: "Tell" }];

/** The doors, with how a stream of each begins to speak and ends. */
const DOORS = [
  { path: "/v1/chat/completions", members: { store: true }, word: '"content":"Well', end: "data: [DONE]\n\n" },
  { path: "/v1/messages", members: { max_tokens: 50 }, word: '"text":"Well', end: "event: message_stop\n" },
  { path: "/v1/completions", members: { prompt: "Tell" }, word: '"text":"Well', end: "data: [DONE]\n\n" },
] as const;

/** A model server whose answers end when the test says so. */
async function serveHeldModel() {
  const gate = Promise.withResolvers<void>();
  const model = await serveChat(async (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(sse(textChunk("Well ")));
    await gate.promise;
    response.end(sse(textChunk("done"), lastChunk("stop"), "[DONE]"));
  });
  return { url: `${model.origin}/v1`, release: gate.resolve };
}

/** Asks by a door, and waits until its stream has a word. */
async function openStream(server: Pick<ChildServer, "post">, { path, members, word }: (typeof DOORS)[number]) {
  const reply = await server.post(path, { model: "m", messages: MESSAGES, stream: true, ...members });
  expect(reply.status).toBe(200);
  const reader = reply.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const readOn = async (isEnough: () => boolean): Promise<string> => {
    while (!isEnough()) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
      if (done) break;
      text += value;
    }
    return text;
  };
  await readOn(() => text.includes(word));
  return { id: reply.headers.get("x-antiphon-response-id") ?? "", rest: () => readOn(() => false) };
}

test.each(DOORS)("a server that stops lets a stream of $path end completely", async (door) => {
  verifies("faces.lives.drain");
  const model = await serveHeldModel();
  const server = await startChildServer({ env: { MODEL_BASE_URL: model.url } });
  const stream = await openStream(server, door);
  const stopped = server.stop();
  model.release();
  const whole = await stream.rest();
  expect(whole).toContain("done");
  expect(whole.trimEnd()).toContain(door.end.trimEnd());
  expect(await stopped).toBe(0);
});

test.each(DOORS)("a killed server breaks a stream of $path, and its response ends as failed", async (door) => {
  verifies("faces.lives.crash");
  const [folder, model] = [temporaryFolder(), await serveHeldModel()];
  const env = { NODE_ENV: "production", DATA_DIR: folder, MODEL_BASE_URL: model.url, FACES_STORE: "all" };
  const first = await startChildServer({ env });
  const stream = await openStream(first, door);
  const rest = stream.rest().then(
    () => "ended",
    () => "broken",
  );
  await first.kill();
  expect(await rest).toBe("broken");
  model.release();
  const second = await startChildServer({ env });
  const ended = await until(second, stream.id, "failed", "completed");
  expect(ended).toMatchObject({ status: "failed", output: [{ content: [{ text: "Well " }] }] });
  const chatId = stream.id.replace("resp_", "chatcmpl-");
  expect((await second.fetch(`/v1/chat/completions/${chatId}`)).status).toBe(404);
  expect(await (await second.fetch("/v1/chat/completions")).json()).toMatchObject({ data: [] });
});

test.each(DOORS)(
  "a request of $path waits for its place at the model server, and leaves it with its client",
  async (door) => {
    verifies("faces.lives.queue");
    const { server, call, count } = await serveSlowModel({ MODEL_CONNECTIONS_MAX: "1" });
    const ask = (signal: AbortSignal | null) =>
      server.fetch(door.path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "m", messages: MESSAGES, ...door.members }),
        signal,
      });
    const [first, leaving] = [ask(null), new AbortController()];
    const held = await call(0);
    const left = ask(leaving.signal).then(
      () => "answered",
      () => "left",
    );
    const third = ask(null);
    leaving.abort();
    expect(await left).toBe("left");
    expect(count()).toBe(1);
    held.say("First");
    held.finish();
    expect(await (await first).text()).toContain("First");
    const next = await call(1);
    next.say("Third");
    next.finish();
    expect(await (await third).text()).toContain("Third");
    expect(count()).toBe(2);
  },
);

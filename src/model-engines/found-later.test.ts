import { createBuiltInEngine, MODEL_NAME } from "@antiphon/built-in-model/index.ts";
import { aRequest } from "@antiphon/domain/models/model-request.fixture.ts";
import { expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { collect, engineFor, lastChunk, serveChat, sse, textChunk } from "./chat-completions/chat-server.fixture.ts";
import { createFoundLater } from "./found-later.ts";

const { signal } = new AbortController();

/** A model server, once it is started, and the engine that looks for it. */
async function withServer() {
  let isStarted = false;
  let time = 0;
  let looks = 0;
  const server = await serveChat((response, { path }) => {
    if (path === "/v1/models") return response.end('{"data":[{"id":"llama"}]}');
    response.writeHead(200, { "content-type": "text/event-stream" });
    return response.end(sse(textChunk("Hello"), lastChunk("stop"), "[DONE]"));
  });
  const later = createFoundLater({
    standIn: createBuiltInEngine(),
    standInModel: MODEL_NAME,
    now: () => time,
    look: async () => {
      looks += 1;
      return isStarted ? engineFor(server) : null;
    },
  });
  return {
    ...later,
    server,
    looks: () => looks,
    start: () => void (isStarted = true),
    pass: (ms: number) => void (time += ms),
  };
}

test("a model server that starts later is found, and the built-in model goes on", async () => {
  verifies("chat-engine.base-url.found-later");
  const { engine, hasFound, server, looks, start } = await withServer();
  start();
  await collect(await engine.sample(aRequest({ model: MODEL_NAME }), signal));
  expect([hasFound(), looks(), engine.abilitiesOf("llama").imageUrls]).toEqual([false, 0, true]);

  const events = await collect(await engine.sample(aRequest({ model: "llama" }), signal));

  expect(events).toContainEqual({ type: "text_delta", text: "Hello" });
  expect([hasFound(), engine.abilitiesOf("llama").imageUrls]).toEqual([true, false]);
  expect((await engine.listModels(signal)).map(({ id }) => id)).toEqual(["llama", MODEL_NAME]);
  const calls = server.calls.length;
  await collect(await engine.sample(aRequest({ model: MODEL_NAME }), signal));
  expect(server.calls).toHaveLength(calls);
});

test("while there is none, other models do not exist, and it is looked for once in a while", async () => {
  verifies("chat-engine.base-url.found-later");
  const { engine, hasFound, looks, pass } = await withServer();
  const asked = [1, 2, 3].map(() => engine.sample(aRequest({ model: "llama" }), signal));
  for (const one of asked) await expect(one).rejects.toMatchObject({ code: "model_not_found" });
  await expect(engine.sample(aRequest({ model: "llama" }), signal)).rejects.toMatchObject({ status: 400 });
  expect(await engine.listModels(signal)).toHaveLength(1);
  expect([hasFound(), looks()]).toEqual([false, 1]);
  pass(2000);
  expect(await engine.listModels(signal)).toHaveLength(1);
  expect(looks()).toBe(2);
});

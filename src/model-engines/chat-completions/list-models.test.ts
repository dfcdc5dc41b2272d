import { createServer } from "node:net";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import { expect, test } from "vitest";
import { readModels } from "../model-server/list-models.ts";
import { engineFor, serveChat } from "./chat-server.fixture.ts";
import { findLocalDaemon } from "./find-local-daemon.ts";

const unaborted = () => new AbortController().signal;

test("the list of models is fetched with the key and cached for a while", async () => {
  const server = await serveChat((response) =>
    response.end('{"object":"list","data":[{"id":"m","created":5,"owned_by":"us"}]}'),
  );
  const engine = engineFor(server);
  const models = [{ id: "m", created: 5, ownedBy: "us" }];
  expect(await engine.listModels(unaborted())).toEqual(models);
  expect(await engine.listModels(unaborted())).toEqual(models);
  expect(server.calls.map((call) => [call.path, call.headers.authorization])).toEqual([
    ["/v1/models", "Bearer sk-secret-key-of-the-operator"],
  ]);
});

for (const [shape, body, expected] of [
  ["a bare list of names", '["a","b"]', ["a", "b"]],
  ["a member models with names", '{"models":[{"name":"a"}]}', ["a"]],
  ["entries that are none", '{"data":[null,{"x":1},{"id":"a"}]}', ["a"]],
] as const) {
  test(`${shape} can be read`, () => expect(readModels(body).map((model) => model.id)).toEqual(expected));
}

test("a failure is thrown and not cached", async () => {
  let status = 500;
  const server = await serveChat((response) => response.writeHead(status).end('{"data":[{"id":"m"}]}'));
  const engine = engineFor(server);
  await expect(engine.listModels(unaborted())).rejects.toBeInstanceOf(ModelError);
  status = 200;
  expect(await engine.listModels(unaborted())).toEqual([{ id: "m", created: 0, ownedBy: "unknown" }]);
});

test.each([
  [400, 502, "server_error"],
  [404, 502, "no_model_list"],
  [405, 502, "no_model_list"],
  [422, 502, "server_error"],
  [429, 429, "rate_limit_exceeded"],
  [501, 502, "no_model_list"],
])("a list that is refused with %i is a server error", async (given, status, code) => {
  const server = await serveChat((response) => response.writeHead(given).end('{"error":{"message":"No."}}'));
  await expect(engineFor(server).listModels(unaborted())).rejects.toMatchObject({ status, code });
});

test("Ollama on this machine is found by its version endpoint", async () => {
  const server = await serveChat((response, call) =>
    response.end(call.path === "/api/version" ? '{"version":"0.12.0"}' : ""),
  );
  expect(await findLocalDaemon(server.origin)).toEqual({
    name: "Ollama",
    version: "0.12.0",
    baseUrl: `${server.origin}/v1`,
  });
});

test("another server on the port, nothing, or no answer is not taken for Ollama", async () => {
  const other = await serveChat((response) => response.end("hello"));
  expect(await findLocalDaemon(other.origin)).toBeNull();
  const silent = await serveChat(() => {});
  expect(await findLocalDaemon(silent.origin)).toBeNull();
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
  const address = closed.address();
  await new Promise((resolve) => closed.close(resolve));
  expect(
    await findLocalDaemon(`http://127.0.0.1:${address !== null && typeof address === "object" ? address.port : 1}`),
  ).toBeNull();
});

import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { createStore, upload } from "./store-client.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

test("who asks for a file that is being taken in learns when to ask again", async () => {
  const fileId = await upload(server, "words.txt", "The fox jumps over the dog. ".repeat(20_000));
  const storeId = await createStore(server, [fileId]);
  const seen = new Map<unknown, string | null>();
  while (!seen.has("completed")) {
    const reply = await server.fetch(`/v1/vector_stores/${storeId}/files/${fileId}`);
    const { status } = Object(await reply.json());
    expect(["in_progress", "completed"]).toContain(status);
    seen.set(status, reply.headers.get("openai-poll-after-ms"));
  }
  expect(Object.fromEntries(seen)).toEqual({ in_progress: "250", completed: null });
});

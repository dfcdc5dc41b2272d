import { join } from "node:path";
import { expect, test } from "vitest";
import { startChildServer } from "./kit/child-server.ts";
import { verifies } from "./verifies.ts";

/** Preloaded into the server's process: writes down every address it connects to. */
const TELL_CALLS = ["--import", join(import.meta.dirname, "tell-calls.ts")];
const REQUEST = { model: "antiphon-built-in", input: "Write a sentence about the sea", reasoning: { effort: "low" } };

async function callsAfter(env: Readonly<Record<string, string>>): Promise<{ status: number; calls: string[] }> {
  const server = await startChildServer({ flags: TELL_CALLS, env });
  const { status } = await server.post("/v1/responses", REQUEST);
  await server.stop();
  return { status, calls: server.said().match(/^calls .+$/gm) ?? [] };
}

test("the built-in engine answers without a model key and without a network connection", async () => {
  verifies("builtin-engine.answers.no-network");
  expect(await callsAfter({})).toEqual({ status: 200, calls: [] });
});

test("the same check notices a server that connects to a model server", async () => {
  const { status, calls } = await callsAfter({ MODEL_BASE_URL: "http://127.0.0.1:1/v1" });
  expect(status).toBe(502);
  expect(calls).toContainEqual(expect.stringMatching(/"port":"1","host":"127\.0\.0\.1"/));
});

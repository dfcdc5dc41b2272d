import { afterAll, beforeAll, expect, test } from "vitest";
import { sends, serveHttp } from "../kit/http-server.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { errorOf } from "./catalogue-error.ts";

const MODEL = "antiphon-built-in";
/**
 * How long another client may wait during such a request, in milliseconds. Without limits the wait would be many times
 * longer.
 */
const STALL_MS_MAX = 2_000;

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ env: { EGRESS_ALLOW: "127.0.0.1" } });
});
afterAll(() => server.close());

async function readingMs(...parts: readonly object[]): Promise<{ readonly ms: number; readonly reply: Response }> {
  const startedAt = performance.now();
  const reply = await server.post("/v1/responses", { model: MODEL, input: [{ role: "user", content: parts }] });
  return { ms: performance.now() - startedAt, reply };
}

const inBase64 = (text: string): string => `data:text/plain;base64,${Buffer.from(text).toString("base64")}`;

verifies("media.hostile.no-stall");
test.each([
  ["comments without an image behind them", inBase64("<!---->".repeat(28)), 200],
  ["spaces without base64 behind them", `data:text/plain;base64,${" ".repeat(100_000)}!`, 400],
])("a file of %s is checked quickly", async (_what, file_data, status) => {
  const { ms, reply } = await readingMs({ type: "input_file", filename: "a", file_data });
  expect(reply.status, await reply.text()).toBe(status);
  expect(ms).toBeLessThan(STALL_MS_MAX);
});

test.each([
  ["files", (index: number) => ({ type: "input_file", file_id: `file-${index}` })],
  ["URLs", (index: number) => ({ type: "input_file", filename: "a", file_url: `http://127.0.0.1:1/${index}` })],
])("a request with 20,000 unavailable %s fails at the first", async (_what, part) => {
  const { ms, reply } = await readingMs(...Array.from({ length: 20_000 }, (_one, index) => part(index)));
  expect(await errorOf(reply)).toMatchObject({ status: 400 });
  expect(ms).toBeLessThan(STALL_MS_MAX);
});

verifies("media.hostile.loads-bounded");
test("a request with too many URLs is refused, and fetches no more than the maximum", async () => {
  const remote = await serveHttp(sends("x", { "content-type": "text/plain" }));
  const part = (index: number): object => ({ type: "input_file", filename: "a", file_url: `${remote.url}/${index}` });
  const { reply } = await readingMs(...Array.from({ length: 501 }, (_one, index) => part(index)));
  expect(await errorOf(reply)).toMatchObject({ status: 400, message: expect.stringContaining("more than 500") });
  expect(remote.paths.length).toBeLessThanOrEqual(500);
});

test("a request may hold the maximum number of URLs", async () => {
  const remote = await serveHttp(sends("x", { "content-type": "text/plain" }));
  const part = (index: number): object => ({ type: "input_file", filename: "a", file_url: `${remote.url}/${index}` });
  const { reply } = await readingMs(...Array.from({ length: 500 }, (_one, index) => part(index)));
  expect(reply.status, await reply.text()).toBe(200);
});

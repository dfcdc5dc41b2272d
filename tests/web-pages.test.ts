import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "./kit/test-server.ts";
import { verifies } from "./verifies.ts";

const OURS = "http://127.0.0.1:8237";
const THEIRS = "https://app.example";

async function start(env: Readonly<Record<string, string>> = {}): Promise<TestServer> {
  return await startTestServer({ env });
}

/** Which replies a page of this origin may read: a stream, an error, and the preflight. */
async function readable(server: TestServer, origin: string): Promise<boolean[]> {
  const body = JSON.stringify({ model: "antiphon-built-in", input: "Say hi", stream: true });
  const post = { method: "POST", body, headers: { origin, "content-type": "application/json" } };
  const preflight = {
    origin,
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization",
  };
  const replies = [
    await server.fetch("/v1/responses", post),
    await fetch(`${server.url}/v1/responses`, post),
    await fetch(`${server.url}/v1/responses`, { method: "OPTIONS", headers: preflight }),
  ];
  for (const reply of replies) await reply.text();
  expect(replies.map(({ status }) => status).slice(0, 2)).toEqual([200, 401]);
  return replies.map(({ headers }) => headers.get("access-control-allow-origin") === origin);
}

test("by default, only pages of this machine may call", async () => {
  verifies("transport.cors.listed-pages-only");
  const server = await start();
  expect(await readable(server, OURS)).toEqual([true, true, true]);
  expect(await readable(server, "http://localhost:3000")).toEqual([true, true, true]);
  expect(await readable(server, THEIRS)).toEqual([false, false, false]);
  expect(await readable(server, "null")).toEqual([false, false, false]);
});

test("CORS_ORIGINS names the pages that may call", async () => {
  verifies("transport.cors.listed-pages-only");
  const listed = await start({ CORS_ORIGINS: `${THEIRS}, https://other.example` });
  expect(await readable(listed, THEIRS)).toEqual([true, true, true]);
  expect(await readable(listed, OURS)).toEqual([false, false, false]);
  const none = await start({ CORS_ORIGINS: "none" });
  expect(await readable(none, OURS)).toEqual([false, false, false]);
  const everyone = await start({ CORS_ORIGINS: "*" });
  expect(await readable(everyone, "null")).toEqual([true, true, true]);
});

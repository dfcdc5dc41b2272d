import type { RequestListener } from "node:http";
import { silentLogger } from "@antiphon/base/logger.ts";
import { describe, expect, test } from "vitest";
import { serveHttp, writeForever } from "../../../tests/kit/http-server.ts";
import { verifies } from "../../../tests/verifies.ts";
import { createEgress, type EgressOptions, type GuardedCall } from "./egress.ts";
import { EgressError, type EgressReason } from "./egress-error.ts";
import type { EgressPolicy } from "./egress-rules.ts";

const LOOPBACK: EgressPolicy = { mode: "public", allow: ["127.0.0.1"], deny: [], ports: [80, 443] };
const TIMEOUTS = { connectMs: 2000, idleMs: 2000, totalMs: 5000 };

function createGuard(options: Partial<EgressOptions> = {}) {
  return createEgress({ policy: LOOPBACK, timeouts: TIMEOUTS, log: silentLogger, ...options });
}

function callOf(call: Partial<GuardedCall> = {}): GuardedCall {
  const { signal } = new AbortController();
  const standing = { kind: "mcp", method: "POST", headers: new Headers(), body: null, caller: "us" } as const;
  return { ...standing, bytesMax: 1000, signal, ...call };
}

async function checkRefused(reason: EgressReason, made: Promise<unknown>): Promise<void> {
  const failure: unknown = await made.catch((error: unknown) => error);
  if (!(failure instanceof EgressError)) throw new Error(`expected a refusal, but got ${JSON.stringify(failure)}`);
  expect(failure.reason).toBe(reason);
  expect(failure.message).not.toMatch(/\d+\.\d+\.\d+|::1|ECONN/);
}

const echo: RequestListener = (request, response) => {
  let body = "";
  request.setEncoding("utf8").on("data", (piece: string) => {
    body += piece;
  });
  request.on("end", () => {
    response.writeHead(418, { "content-type": "application/json", "x-own": "yes" });
    response.end(JSON.stringify({ method: request.method, headers: request.headers, body }));
  });
};

describe("a guarded call of any method", () => {
  test("sends its headers and body, and resolves with a reply of any status", async () => {
    const remote = await serveHttp(echo);
    const headers = new Headers({ "x-mine": "1", authorization: "Bearer t" });
    const reply = await createGuard().openGuarded(`${remote.url}/a?b`, callOf({ method: "PUT", headers, body: "hi" }));
    expect(reply.status).toBe(418);
    expect(reply.headers.get("x-own")).toBe("yes");
    expect(await reply.json()).toMatchObject({
      method: "PUT",
      headers: { "x-mine": "1", authorization: "Bearer t", "accept-encoding": "identity" },
      body: "hi",
    });
    expect(remote.paths).toEqual(["/a?b"]);
  });

  test("shows pieces of the body as they arrive", async () => {
    const remote = await serveHttp((request, response) => {
      response.write("one");
      request.on("data", () => {});
    });
    const reply = await createGuard().openGuarded(remote.url, callOf());
    const reader = reply.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe("one");
    await reader?.cancel();
  });

  verifies("tools.egress.private-addresses-refused");
  test.each(["http://127.0.0.1/", "http://169.254.169.254/latest/meta-data/", "http://[::1]/", "http://10.0.0.1/"])(
    "does not go to %s",
    (url) => checkRefused("forbidden", createGuard({ policy: { ...LOOPBACK, allow: [] } }).openGuarded(url, callOf())),
  );

  test("checks every call anew, and reuses connections only to addresses that it found", async () => {
    const remote = await serveHttp((_request, response) => response.end("hello"));
    const answers = ["127.0.0.1", "127.0.0.1", "127.0.0.2"];
    const guard = createGuard({ resolve: async () => [{ address: answers.shift() ?? "", family: 4 }] });
    const ask = () => guard.openGuarded(`http://rebinding.test:${remote.port}/`, callOf());
    expect(await (await ask()).text()).toBe("hello");
    expect(await (await ask()).text()).toBe("hello");
    await checkRefused("forbidden", ask());
  });

  test("lets 200 calls to one server be under way at once", async () => {
    const waiting: (() => void)[] = [];
    const remote = await serveHttp((_request, response) => {
      waiting.push(() => response.end("done"));
      if (waiting.length === 200) for (const answer of waiting) answer();
    });
    const guard = createGuard();
    const texts = Array.from({ length: 200 }, async () => (await guard.openGuarded(remote.url, callOf())).text());
    expect(new Set(await Promise.all(texts))).toEqual(new Set(["done"]));
  });

  test("gives up a call at once that still waits for a connection", async () => {
    const { url } = await serveHttp(() => {});
    const guard = createGuard();
    const all = new AbortController();
    const last = new AbortController();
    const others = Array.from({ length: 256 }, () => guard.openGuarded(url, callOf({ signal: all.signal })));
    const waiting = guard.openGuarded(url, callOf({ signal: last.signal }));
    last.abort(new Error("no longer wanted"));
    await expect(waiting).rejects.toThrow("no longer wanted");
    all.abort(new Error("over"));
    for (const ended of await Promise.allSettled(others)) expect(ended.status).toBe("rejected");
  });

  test.each([301, 302, 303, 307, 308])("refuses a redirect with status %i", async (status) => {
    const remote = await serveHttp((_request, response) => {
      response.writeHead(status, { location: "http://169.254.169.254/" });
      response.end();
    });
    await checkRefused("redirected", createGuard().openGuarded(remote.url, callOf()));
  });

  test("fails while reading a body that is too large", async () => {
    const remote = await serveHttp((_request, response) => writeForever(response, Buffer.alloc(65_536)));
    const reply = await createGuard().openGuarded(remote.url, callOf({ bytesMax: 1_000_000 }));
    await checkRefused("too_large", reply.text());
  });

  test("fails for JSON that is too large, or that breaks off", async () => {
    const type = { "content-type": "application/json; charset=utf-8" };
    const endless = await serveHttp((_request, response) => {
      response.writeHead(200, type);
      writeForever(response, Buffer.alloc(65_536, "1"));
    });
    await checkRefused("too_large", createGuard().openGuarded(endless.url, callOf({ bytesMax: 1_000_000 })));
    const breaking = await serveHttp((_request, response) => {
      response.writeHead(200, type);
      response.write("[1,", () => response.destroy());
    });
    await checkRefused("unreachable", createGuard().openGuarded(breaking.url, callOf()));
  });

  test("refuses an encoding that it did not ask for", async () => {
    const remote = await serveHttp((_request, response) => {
      response.writeHead(200, { "content-encoding": "gzip" });
      response.end("x");
    });
    await checkRefused("bad_encoding", createGuard().openGuarded(remote.url, callOf()));
  });

  test("ends with its signal, before and within the body", async () => {
    const remote = await serveHttp((request, response) => {
      if (request.url === "/body") response.write("one");
    });
    const before = new AbortController();
    const waiting = createGuard().openGuarded(remote.url, callOf({ signal: before.signal }));
    before.abort(new Error("gone"));
    await expect(waiting).rejects.toThrow("gone");
    const within = new AbortController();
    const reply = await createGuard().openGuarded(`${remote.url}/body`, callOf({ signal: within.signal }));
    const text = reply.text();
    within.abort(new Error("gone"));
    await expect(text).rejects.toThrow("gone");
  });

  test("ends with its signal within JSON", async () => {
    const stopped = new AbortController();
    const remote = await serveHttp((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write("[1,", () => stopped.abort(new Error("gone")));
    });
    await expect(createGuard().openGuarded(remote.url, callOf({ signal: stopped.signal }))).rejects.toThrow("gone");
  });
});

import type { RequestListener } from "node:http";
import { gzipSync } from "node:zlib";
import { silentLogger } from "@antiphon/base/logger.ts";
import { describe, expect, onTestFinished, test } from "vitest";
import { serveHttp } from "../../../tests/kit/http-server.ts";
import { verifies } from "../../../tests/verifies.ts";
import { createEgress, type Egress, type EgressOptions, type GuardedRequest, newLookupSlots } from "./egress.ts";
import { EgressError, type EgressReason } from "./egress-error.ts";
import type { EgressPolicy } from "./egress-rules.ts";

const LOOPBACK: EgressPolicy = { mode: "public", allow: ["127.0.0.1"], deny: [], ports: [80, 443] };
const TIMEOUTS = { connectMs: 2000, idleMs: 2000, totalMs: 5000 };

async function fetchGuarded(url: string, options: Partial<EgressOptions> = {}, request: Partial<GuardedRequest> = {}) {
  const egress = createEgress({ policy: LOOPBACK, timeouts: TIMEOUTS, log: silentLogger, ...options });
  const { signal } = new AbortController();
  return egress.fetchGuarded(url, { bytesMax: 1000, accept: null, signal, caller: "us", ...request });
}

async function checkRefused(
  reason: EgressReason,
  url: string,
  options: Partial<EgressOptions> = {},
  request: Partial<GuardedRequest> = {},
): Promise<EgressError> {
  const failure: unknown = await fetchGuarded(url, options, request).catch((error: unknown) => error);
  if (!(failure instanceof EgressError)) throw new Error(`expected a refusal, but got ${JSON.stringify(failure)}`);
  expect(failure.reason).toBe(reason);
  expect(failure.message).not.toMatch(/\d+\.\d+\.\d+|::1|ECONN|getaddrinfo/);
  return failure;
}

const hello: RequestListener = (_request, response) => {
  response.writeHead(200, { "content-type": "Text/Plain; charset=UTF-8" });
  response.end("hello");
};

test("slow look-ups of one caller do not delay other callers", async () => {
  verifies("egress.lookups.fair");
  const remote = await serveHttp(hello);
  const resolve = (host: string) =>
    host === "slow.test"
      ? new Promise<never>(() => {})
      : Promise.resolve([{ address: "127.0.0.1", family: 4 }] as const);
  const egress = createEgress({
    policy: { ...LOOPBACK, allow: ["localhost"] },
    timeouts: TIMEOUTS,
    log: silentLogger,
    resolve,
  });
  const leaving = new AbortController();
  const ask = (url: string, caller: string) =>
    egress.fetchGuarded(url, { bytesMax: 1000, accept: null, signal: leaving.signal, caller });
  const slow = Array.from({ length: 20 }, () => ask("http://slow.test/", "one").catch(() => "left"));
  await new Promise(setImmediate);
  const fetched = await ask(remote.url.replace("127.0.0.1", "localhost"), "other");
  expect(fetched.bytes.toString()).toBe("hello");
  leaving.abort(new Error("gone"));
  expect(await Promise.all(slow)).toHaveLength(20);
});

test("guards with shared slots look up at most three names at once", async () => {
  let running = 0;
  let most = 0;
  const resolve = async () => {
    most = Math.max(most, ++running);
    await new Promise(setImmediate);
    running -= 1;
    return [{ address: "10.0.0.1", family: 4 }] as const;
  };
  const lookups = newLookupSlots();
  const guards = [1, 2].map(() =>
    createEgress({ policy: LOOPBACK, timeouts: TIMEOUTS, log: silentLogger, resolve, lookups }),
  );
  const { signal } = new AbortController();
  const ask = (guard: Egress, caller: number) =>
    guard.fetchGuarded("http://some.test/", { bytesMax: 1, accept: null, signal, caller: String(caller) });
  const asked = guards.flatMap((guard) => Array.from({ length: 5 }, (_, caller) => ask(guard, caller)));
  const outcomes = await Promise.allSettled(asked);
  expect(outcomes.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => "rejected"));
  expect(most).toBe(3);
});

describe("a guarded call", () => {
  test("returns the bytes of the reply with type, charset and filename", async () => {
    const remote = await serveHttp(hello);
    const fetched = await fetchGuarded(`${remote.url}/some/a%20file.txt?x=1`);
    expect(fetched).toEqual({
      bytes: Buffer.from("hello"),
      mimeType: "text/plain",
      charset: "utf-8",
      filename: "a file.txt",
    });
    expect(remote.paths).toEqual(["/some/a%20file.txt?x=1"]);
  });

  test("sends no credentials and no cookies", async () => {
    let headers: unknown;
    const remote = await serveHttp((request, response) => {
      headers = Object.keys(request.headers).toSorted();
      response.end();
    });
    await fetchGuarded(remote.url);
    expect(headers).toEqual(["accept", "accept-encoding", "connection", "host", "user-agent"]);
  });

  verifies("tools.egress.private-addresses-refused", "egress.guard.address-forms");
  test.each([
    "http://127.0.0.1/",
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f.0.0.1/",
    "http://0177.0.0.1/",
    "http://127.0.0.1./",
    "http://localhost/",
    "http://localhost./",
    "http://[::1]/",
    "http://[::]/",
    "http://0.0.0.0/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[64:ff9b::127.0.0.1]/",
    "http://[2002:7f00:1::]/",
    "http://[fd00::1]/",
    "http://[fe80::1]/",
    "http://169.254.169.254/latest/meta-data/",
    "http://[fd00:ec2::254]/latest/meta-data/",
    "http://10.0.0.1/",
    "http://100.64.0.1/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://①②⑦.0.0.1/",
    "http://8.8.8.8:22/",
    "http://this-name-does-not-exist.invalid/",
  ])("does not go to %s", async (url) => {
    await checkRefused("forbidden", url, { policy: { ...LOOPBACK, allow: [] } });
  });

  test.each([
    "",
    "no url",
    "//127.0.0.1/",
    "ftp://127.0.0.1/a",
    "file:///etc/passwd",
    "gopher://127.0.0.1/",
    "data:text/plain,x",
    "javascript:1",
    "http://user@127.0.0.1/",
    "http://user:password@127.0.0.1/",
    `http://127.0.0.1/${"a".repeat(9000)}`,
  ])("rejects the URL %.60s", async (url) => {
    await checkRefused("invalid_url", url);
  });

  test("is not made in the mode off", async () => {
    const remote = await serveHttp(hello);
    await checkRefused("switched_off", remote.url, { policy: { ...LOOPBACK, mode: "off" } });
    expect(remote.paths).toEqual([]);
  });

  test("uses no proxy of the environment", async () => {
    const remote = await serveHttp(hello);
    const proxy = await serveHttp((_request, response) => response.end("from the proxy"));
    process.env["http_proxy"] = proxy.url;
    process.env["HTTP_PROXY"] = proxy.url;
    process.env["NODE_USE_ENV_PROXY"] = "1";
    onTestFinished(() => {
      for (const name of ["http_proxy", "HTTP_PROXY", "NODE_USE_ENV_PROXY"]) delete process.env[name];
    });
    expect((await fetchGuarded(remote.url)).bytes.toString()).toBe("hello");
    expect(proxy.paths).toEqual([]);
  });
});

describe("a name", () => {
  verifies("egress.guard.resolved-once");
  test("is looked up once, and the call goes to the address that was checked", async () => {
    const remote = await serveHttp(hello);
    let lookups = 0;
    const resolve = async () => {
      lookups++; // A rebinding name answers with a public address first, and with a private one to whoever asks again.
      return [{ address: lookups === 1 ? "127.0.0.1" : "127.0.0.2", family: 4 as const }];
    };
    const { bytes } = await fetchGuarded(`http://rebinding.test:${remote.port}/`, { resolve });
    expect(bytes.toString()).toBe("hello");
    expect(lookups).toBe(1);
  });

  test("that rebinds to a private address between two hops is refused at the second", async () => {
    const remote = await serveHttp((_request, response) => {
      response.writeHead(302, { location: "/again" });
      response.end();
    });
    const answers = ["127.0.0.1", "127.0.0.2"];
    const resolve = async () => [{ address: answers.shift() ?? "", family: 4 as const }];
    await checkRefused("forbidden", `http://rebinding.test:${remote.port}/`, { resolve });
    expect(remote.paths).toEqual(["/"]);
  });

  test("is refused if a single one of its addresses is", async () => {
    const resolve = async () => [
      { address: "8.8.8.8", family: 4 as const },
      { address: "::1", family: 6 as const },
    ];
    await checkRefused("forbidden", "http://mixed.test/", { resolve });
  });

  test("that does not exist gets the same error as a private one", async () => {
    const unknown = await checkRefused("forbidden", "http://a.test/", {
      resolve: async () => Promise.reject(new Error("getaddrinfo ENOTFOUND a.test")),
    });
    const hidden = await checkRefused("forbidden", "http://a.test/", {
      resolve: async () => [{ address: "10.0.0.1", family: 4 }],
    });
    const empty = await checkRefused("forbidden", "http://a.test/", { resolve: async () => [] });
    expect(new Set([unknown.message, hidden.message, empty.message]).size).toBe(1);
  });

  test("whose look-up hangs ends with a timeout", async () => {
    await checkRefused("timeout", "http://a.test/", {
      resolve: () => new Promise(() => {}),
      timeouts: { ...TIMEOUTS, totalMs: 50 },
    });
  });
});

describe("a redirect", () => {
  const redirectTo =
    (location: string, status = 302): RequestListener =>
    (request, response) => {
      if (request.url !== "/") return hello(request, response);
      response.writeHead(status, { location });
      response.end();
    };

  verifies("egress.guard.redirects-checked");
  test.each([301, 302, 303, 307, 308])("with status %i is followed", async (status) => {
    const remote = await serveHttp(redirectTo("/next", status));
    expect((await fetchGuarded(remote.url)).bytes.toString()).toBe("hello");
    expect(remote.paths).toEqual(["/", "/next"]);
  });

  test("to a private address is refused before any request to it", async () => {
    const inside = await serveHttp(hello);
    const remote = await serveHttp(redirectTo(`http://127.0.0.1:${inside.port}/secret`));
    const policy = { ...LOOPBACK, allow: [`127.0.0.1:${remote.port}`] };
    await checkRefused("forbidden", remote.url, { policy });
    expect(inside.paths).toEqual([]);
  });

  test.each(["http://169.254.169.254/latest/meta-data/iam/", "http://localhost:1/", "http://[::1]:1/"])(
    "to %s is refused",
    async (location) => {
      const remote = await serveHttp(redirectTo(location));
      await checkRefused("forbidden", remote.url, { policy: { ...LOOPBACK, allow: [`127.0.0.1:${remote.port}`] } });
    },
  );

  test.each(["file:///etc/passwd", "ftp://127.0.0.1/", "http://user:password@127.0.0.1/", "http://"])(
    "to %s is rejected as an invalid URL",
    async (location) => {
      await checkRefused("invalid_url", (await serveHttp(redirectTo(location))).url);
    },
  );

  test("is followed five times and no more", async () => {
    const remote = await serveHttp((_request, response) => {
      response.writeHead(302, { location: "/" });
      response.end();
    });
    await checkRefused("too_many_redirects", remote.url);
    expect(remote.paths).toHaveLength(6);
  });
});

describe("a reply", () => {
  verifies("egress.guard.limits");
  test("that announces too many bytes is not read", async () => {
    const remote = await serveHttp((_request, response) => {
      response.writeHead(200, { "content-length": "1001" });
      response.write("x");
    });
    await checkRefused("too_large", remote.url);
  });

  test("that exceeds the limit is cut off there", async () => {
    let sent = 0;
    const remote = await serveHttp((_request, response) => {
      const timer = setInterval(() => {
        sent += 500;
        response.write(Buffer.alloc(500));
      }, 5);
      response.on("close", () => clearInterval(timer));
    });
    await checkRefused("too_large", remote.url);
    expect(sent).toBeLessThan(100_000);
  });

  test("of exactly the maximum size is accepted", async () => {
    const remote = await serveHttp((_request, response) => response.end(Buffer.alloc(1000)));
    expect((await fetchGuarded(remote.url)).bytes).toHaveLength(1000);
  });

  test("that is compressed is decompressed", async () => {
    const remote = await serveHttp((_request, response) => {
      response.writeHead(200, { "content-encoding": "gzip" });
      response.end(gzipSync("hello"));
    });
    expect((await fetchGuarded(remote.url)).bytes.toString()).toBe("hello");
  });

  test("that unpacks beyond the limit is refused without unpacking the rest", async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    const remote = await serveHttp((_request, response) => {
      response.writeHead(200, { "content-encoding": "gzip" });
      response.end(bomb);
    });
    const before = process.memoryUsage().arrayBuffers;
    await checkRefused("too_large", remote.url, {}, { bytesMax: 100_000 });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * 1024 * 1024);
  });

  test.each([
    ["gzip", "bad_encoding", "no gzip"],
    ["br", "bad_encoding", "no brotli, not at all"],
    ["gzip, gzip", "bad_encoding", ""],
    ["toString", "bad_encoding", ""],
  ] as const)("with the unreadable encoding %s is refused", async (encoding, reason, body) => {
    const remote = await serveHttp((_request, response) => {
      response.writeHead(200, { "content-encoding": encoding });
      response.end(body);
    });
    await checkRefused(reason, remote.url);
  });

  test.each([
    ["image/png", ["image/*"], true],
    ["IMAGE/PNG; a=b", ["image/png"], true],
    ["image/png", ["image/jpeg"], false],
    ["text/html", ["image/*"], false],
    ["imagery/png", ["image/*"], false],
  ])("of type %s for %j is accepted: %s", async (type, accept, isTaken) => {
    const remote = await serveHttp((_request, response) => {
      response.writeHead(200, { "content-type": type });
      response.end("x");
    });
    if (isTaken) await fetchGuarded(remote.url, {}, { accept });
    else await checkRefused("wrong_type", remote.url, {}, { accept });
  });

  test.each([204, 400, 401, 404, 500, 304])("with status %i is refused", async (status) => {
    const remote = await serveHttp((_request, response) => {
      response.writeHead(status);
      response.end();
    });
    expect((await checkRefused("bad_status", remote.url)).message).toContain(String(status));
  });

  test.each([
    ["never begins", () => {}],
    ["stops", (response: { write(text: string): unknown }) => response.write("x")],
  ])("that %s ends with an idle timeout", async (_what, answer) => {
    const remote = await serveHttp((_request, response) => void answer(response));
    await checkRefused("timeout", remote.url, { timeouts: { ...TIMEOUTS, idleMs: 100 } });
  });

  test("that arrives slowly ends at the total time limit", async () => {
    const remote = await serveHttp((_request, response) => {
      const timer = setInterval(() => response.write("x"), 10);
      response.on("close", () => clearInterval(timer));
    });
    await checkRefused("timeout", remote.url, { timeouts: { ...TIMEOUTS, totalMs: 150 } });
  });

  test("whose connection breaks is refused", async () => {
    const remote = await serveHttp((request) => request.socket.destroy());
    await checkRefused("unreachable", remote.url);
    const port = 1;
    await checkRefused("unreachable", `http://127.0.0.1:${port}/`);
  });

  test("is abandoned when its caller aborts", async () => {
    let isClosed: () => void = () => {};
    const closed = new Promise<void>((resolve) => {
      isClosed = resolve;
    });
    const left = new AbortController();
    const remote = await serveHttp((_request, response) => {
      response.on("close", isClosed);
      left.abort(new Error("left"));
    });
    await expect(fetchGuarded(remote.url, {}, { signal: left.signal })).rejects.toThrow("left");
    await closed;
  });
});

test("a failed call is logged with its host only", async () => {
  const lines: unknown[] = [];
  const info = (fields: object): unknown => lines.push(fields);
  await checkRefused("forbidden", "http://10.0.0.1/path?token=secret", { log: { ...silentLogger, info } });
  expect(lines).toEqual([{ host: "10.0.0.1", reason: "forbidden" }]);
});

import { ApiError } from "@antiphon/base/api-error.ts";
import { silentLogger } from "@antiphon/base/logger.ts";
import { expect, test } from "vitest";
import type { OperationRequest, RequestContext } from "../handler.ts";
import { createApplication } from "./application.ts";
import { notImplemented, sampleFaults, sampleRoutes, startSample } from "./sample-interface.fixture.ts";

const KEY = { authorization: "Bearer me" };
const JSON_BODY = { "content-type": "application/json" };

function postThing(url: string, body: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${url}/v1/things`, { method: "POST", headers: { ...KEY, ...JSON_BODY, ...headers }, body });
}

test("a handler gets path, query, declared headers and checked body, and returns the reply", async () => {
  const requests: OperationRequest[] = [];
  const echo = async (request: OperationRequest) => {
    requests.push(request);
    return { status: 200, body: { ok: true }, headers: { "x-more": "yes" } };
  };
  const { url } = await startSample({ handlers: { getThing: echo, createThing: echo } });
  const got = await fetch(`${url}/v1/things/a%2Fb?include[]=x&include=y&stream=true&unknown=1`, {
    headers: { "x-colour": "red", "x-other": "dropped" },
  });
  expect([got.status, got.headers.get("content-type"), got.headers.get("x-more")]).toEqual([
    200,
    "application/json",
    "yes",
  ]);
  expect(await got.json()).toEqual({ ok: true });
  await postThing(url, '{"name":"n"}');
  expect(requests).toEqual([
    {
      path: { thing_id: "a/b" },
      query: { stream: true, include: ["y", "x"], limit: 20 },
      headers: { "x-colour": "red" },
      body: undefined,
    },
    { path: {}, query: {}, headers: {}, body: { name: "n" } },
  ]);
});

test("a literal path wins over a parameter", async () => {
  const { url } = await startSample({ handlers: { getSpecialThing: async () => ({ status: 200, body: "special" }) } });
  expect(await (await fetch(`${url}/v1/things/special`)).json()).toBe("special");
});

test("an application does not start if operations have no handler, and names them", () => {
  const start = () =>
    createApplication<null>({
      contract: { routes: sampleRoutes.slice(0, 3), bodyValidators: {} },
      handlers: { getThing: async () => ({ status: 204 }) },
      admission: { authenticate: async () => null, anonymous: null },
      faults: sampleFaults,
      log: silentLogger,
    });
  expect(start).toThrow(/createThing, pokeThing/);
});

test("a caller without a key is refused before its body is read", async () => {
  const { url } = await startSample();
  const reply = await fetch(`${url}/v1/things`, { method: "POST", headers: JSON_BODY, body: "not even json" });
  expect([reply.status, reply.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
});

test("a handler gets the principal and the ids of its request", async () => {
  const contexts: RequestContext<string | null>[] = [];
  const { url } = await startSample({
    handlers: { createThing: async (_request, context) => (contexts.push(context), { status: 204 }) },
  });
  const reply = await postThing(url, '{"name":"n"}', { "x-client-request-id": "mine" });
  const [context] = contexts;
  expect(context).toMatchObject({ principal: "Bearer me", clientRequestId: "mine", operationId: "createThing" });
  expect(context?.requestId).toBe(reply.headers.get("x-request-id"));
  expect(context?.requestId).toMatch(/^req_[0-9a-f]{32}$/);
});

test.each([
  ["an unknown path", "GET /v1/nothing", 404, "unknown_route"],
  ["an unknown method", "PUT /v1/things", 405, "method_not_allowed"],
  ["a path in the wrong case", "GET /V1/things/x", 404, "unknown_route"],
  ["a query that breaks the contract", "GET /v1/things/x?limit=0", 400, "invalid_query"],
  ["a path that is not UTF-8", "GET /v1/things/%E0%A4%A", 204, null],
])("%s gets its error as JSON", async (_what, asked, status, code) => {
  const { url } = await startSample();
  const [method = "", path = ""] = asked.split(" ");
  const reply = await fetch(url + path, { method });
  expect(reply.status).toBe(status);
  if (code !== null) expect(await reply.json()).toMatchObject({ error: { code } });
  expect(reply.headers.get("x-request-id")).toMatch(/^req_/);
});

test("a body that breaks the contract is refused with the validator's findings", async () => {
  const { url } = await startSample();
  expect(await (await postThing(url, '{"name":1}')).json()).toMatchObject({
    error: { code: "invalid_body", message: "/name" },
  });
});

test("an interface may check a body itself, and pass on another value", async () => {
  const { url } = await startSample({
    contract: {
      routes: sampleRoutes,
      bodyValidators: {},
      bodyChecks: { createThing: (body) => ({ wrapped: body }) },
    },
    handlers: { createThing: async ({ body }) => ({ status: 200, body }) },
  });
  expect(await (await postThing(url, "1")).json()).toEqual({ wrapped: 1 });
});

test("an ApiError is rendered with its headers, and any other error becomes a 500 without details", async () => {
  const sample = await startSample({
    handlers: {
      getThing: async ({ path }) => {
        if (path["thing_id"] === "busy") {
          throw new ApiError({ status: 429, type: "t", code: "slow", message: "m", headers: { "retry-after": "3" } });
        }
        throw new Error("the secret");
      },
      getSpecialThing: () => {
        throw new TypeError("thrown, not rejected");
      },
      deleteThing: async () => {
        const circular: Record<string, unknown> = {};
        circular["self"] = circular;
        return { status: 200, body: circular };
      },
    },
  });
  const busy = await fetch(`${sample.url}/v1/things/busy`);
  expect([busy.status, busy.headers.get("retry-after")]).toEqual([429, "3"]);
  const [broken, special, circular] = await Promise.all([
    fetch(`${sample.url}/v1/things/x`),
    fetch(`${sample.url}/v1/things/special`),
    fetch(`${sample.url}/v1/things/x`, { method: "DELETE" }),
  ]);
  expect([broken.status, special.status, circular.status]).toEqual([500, 500, 500]);
  expect(await broken.text()).not.toContain("secret");
  expect(sample.log.filter(({ level }) => level === "error")).toHaveLength(3);
});

test("plain bodies and errors are indented if the interface asks for it", async () => {
  const { url } = await startSample({
    options: { prettyJson: true },
    handlers: { getThing: async () => ({ status: 200, body: { a: 1 } }) },
  });
  expect(await (await fetch(`${url}/v1/things/x`)).text()).toBe('{\n  "a": 1\n}');
  expect(await (await fetch(`${url}/nothing`)).text()).toContain('{\n  "error": {\n');
});

test("every reply carries the standing headers", async () => {
  const { url } = await startSample({
    options: { standingHeaders: (ms) => ({ "x-version": "1", "x-ms": String(ms) }) },
  });
  for (const path of ["/nothing", "/v1/things/x"]) {
    const { headers } = await fetch(url + path);
    expect([headers.get("x-version"), headers.get("x-ms")]).toEqual(["1", expect.stringMatching(/^\d+$/)]);
  }
});

test("replies and errors carry the caller's headers once it is authenticated", async () => {
  const authenticate = async ({ authorization = "" }: { readonly authorization?: string }): Promise<string> => {
    if (authorization === "") throw new ApiError({ status: 401, type: "t", code: "no_key", message: "no" });
    return authorization;
  };
  const headersFor = (caller: string | null) => ({ "x-caller": String(caller) });
  const { url } = await startSample({ admission: { authenticate, anonymous: null, headersFor } });
  const post = async (headers: Readonly<Record<string, string>>, body: string) => {
    const reply = await fetch(`${url}/v1/things`, { method: "POST", headers, body });
    return [reply.status, reply.headers.get("x-caller")];
  };
  const known = { authorization: "me", "content-type": "application/json" };
  expect(await post(known, '{"name":"x"}')).toEqual([204, "me"]);
  expect(await post(known, "{")).toEqual([400, "me"]);
  expect(await post({}, "{}")).toEqual([401, null]);
  expect((await fetch(`${url}/v1/things/x`)).headers.get("x-caller")).toBeNull();
});

test("a client's request id must be short ASCII, is logged, and is not echoed", async () => {
  const sample = await startSample();
  const send = (id: string) => fetch(`${sample.url}/v1/things/x`, { headers: { "x-client-request-id": id } });
  const good = await send("mine-1");
  expect([good.status, good.headers.get("x-client-request-id")]).toEqual([204, null]);
  expect((await send("é")).status).toBe(400);
  expect((await send("x".repeat(513))).status).toBe(400);
  expect(sample.log[0]?.fields).toMatchObject({ clientRequestId: "mine-1" });
});

test("the access log holds the path without its query, and neither keys nor bodies", async () => {
  const sample = await startSample();
  await postThing(sample.url, '{"name":"private"}');
  await fetch(`${sample.url}/v1/things/x?limit=5`);
  const lines = JSON.stringify(sample.log);
  expect(sample.log[1]).toMatchObject({
    level: "info",
    fields: { method: "GET", path: "/v1/things/x", status: 204, complete: true },
  });
  expect(lines).not.toMatch(/private|Bearer|limit/);
});

test("a caller that the interface does not admit is refused on every path", async () => {
  const admission = {
    authenticate: async () => null,
    anonymous: null,
    admit: () => {
      throw new ApiError({ status: 403, type: "t", code: "host_not_allowed", message: "no" });
    },
  };
  const { url } = await startSample({ admission });
  expect((await fetch(`${url}/v1/things/x`)).status).toBe(403);
  expect((await fetch(`${url}/nothing`)).status).toBe(403);
});

test("fixed pages are served without a key, to GET and HEAD only", async () => {
  const { url } = await startSample({
    assets: {
      "/docs": { contentType: "text/html", bytes: "<p>hi" },
      "/me": { contentType: "text/plain", file: import.meta.filename },
    },
  });
  const docs = await fetch(`${url}/docs?x=1`);
  expect([docs.status, docs.headers.get("content-type"), await docs.text()]).toEqual([200, "text/html", "<p>hi"]);
  expect(await (await fetch(`${url}/me`)).text()).toContain("fixed pages are served");
  const head = await fetch(`${url}/docs`, { method: "HEAD" });
  expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([200, "5", ""]);
  expect((await fetch(`${url}/docs`, { method: "POST" })).status).toBe(405);
});

test.each([
  ["PUT", "/v1/things", 405, "OPTIONS, POST"],
  ["OPTIONS", "/v1/things", 204, "OPTIONS, POST"],
  ["HEAD", "/v1/things", 405, "OPTIONS, POST"],
  ["POST", "/v1/things/x", 405, "DELETE, GET, HEAD, OPTIONS"],
  ["OPTIONS", "/v1/things/x", 204, "DELETE, GET, HEAD, OPTIONS"],
  ["DELETE", "/v1/things/special", 405, "GET, HEAD, OPTIONS"],
  ["DELETE", "/docs", 405, "GET, HEAD, OPTIONS"],
  ["POST", "/v1/socket", 405, "GET, OPTIONS"],
  ["GET", "/v1/socket", 426, null],
  ["HEAD", "/v1/things/x", 204, null],
  ["OPTIONS", "/v1/nothing", 404, null],
])("%s %s gets %i and Allow: %s", async (method, path, status, allow) => {
  const { url } = await startSample({
    assets: { "/docs": { contentType: "text/html", bytes: "<p>hi" } },
    upgrades: [{ path: "/v1/socket", refuse: notImplemented }],
  });
  const { status: got, headers } = await fetch(url + path, { method });
  expect([got, headers.get("allow")]).toEqual([status, allow]);
  expect(headers.get("x-content-type-options")).toBe("nosniff");
});

test("text and bytes go out as they are", async () => {
  const { url } = await startSample({
    handlers: {
      getThing: async () => ({ status: 200, text: "grüß" }),
      getSpecialThing: async () => ({
        status: 201,
        bytes: Buffer.from([0, 255]),
        contentType: "application/octet-stream",
      }),
    },
  });
  const text = await fetch(`${url}/v1/things/x`);
  expect([text.headers.get("content-type"), await text.text()]).toEqual(["text/plain; charset=utf-8", "grüß"]);
  const bytes = await fetch(`${url}/v1/things/special`);
  expect([bytes.status, new Uint8Array(await bytes.arrayBuffer())]).toEqual([201, new Uint8Array([0, 255])]);
});

test("a reply that breaks the contract becomes a 500 if replies are checked", async () => {
  const sample = await startSample({
    contract: {
      routes: sampleRoutes,
      bodyValidators: {},
      replyValidators: { getThing: Object.assign(() => false, { errors: [] }) },
    },
    handlers: { getThing: async () => ({ status: 200, body: {} }) },
  });
  expect((await fetch(`${sample.url}/v1/things/x`)).status).toBe(500);
});

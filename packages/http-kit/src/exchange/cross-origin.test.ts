import { expect, test } from "vitest";
import { startSample } from "../http/sample-interface.fixture.ts";

const PAGE = "https://page.example";
const PREFLIGHT = {
  "access-control-request-method": "POST",
  "access-control-request-headers": "authorization,idempotency-key",
};

function start() {
  return startSample({ options: { allowsOrigin: (origin) => origin === PAGE } });
}

function crossOriginNames({ headers }: Response): string[] {
  return [...headers.keys()].filter((name) => name.startsWith("access-control") || name === "vary");
}

test("a page of an allowed origin may read replies of every status", async () => {
  const { url } = await start();
  for (const [path, status] of [
    ["/v1/things/x", 204],
    ["/nowhere", 404],
  ] as const) {
    const reply = await fetch(url + path, { headers: { origin: PAGE } });
    expect([reply.status, reply.headers.get("access-control-allow-origin"), reply.headers.get("vary")]).toEqual([
      status,
      PAGE,
      "origin",
    ]);
    expect(reply.headers.get("access-control-expose-headers")).toBe("*");
    expect(reply.headers.get("access-control-allow-credentials")).toBeNull();
  }
});

test("the preflight of an allowed page is answered on any path, without a key", async () => {
  const { url } = await start();
  const reply = await fetch(`${url}/v1/things`, { method: "OPTIONS", headers: { origin: PAGE, ...PREFLIGHT } });
  expect([reply.status, await reply.text()]).toEqual([204, ""]);
  expect(reply.headers.get("access-control-allow-origin")).toBe(PAGE);
  expect(reply.headers.get("access-control-allow-methods")).toContain("POST");
  expect(reply.headers.get("access-control-allow-headers")).toBe("authorization,idempotency-key");
});

test("other pages, and callers that are not pages, get no CORS headers", async () => {
  const { url } = await start();
  for (const headers of [{ origin: "https://other.example" }, { origin: "null" }, {}]) {
    expect(crossOriginNames(await fetch(`${url}/v1/things/x`, { headers }))).toEqual([]);
    const preflight = await fetch(`${url}/v1/things`, { method: "OPTIONS", headers: { ...headers, ...PREFLIGHT } });
    expect([preflight.status >= 400, crossOriginNames(preflight)]).toEqual([true, []]);
  }
});

test("an OPTIONS request that is not a preflight gets the methods, and no CORS methods", async () => {
  const { url } = await start();
  const reply = await fetch(`${url}/v1/things`, { method: "OPTIONS", headers: { origin: PAGE } });
  expect([reply.status, reply.headers.get("allow")]).toEqual([204, "OPTIONS, POST"]);
  expect(reply.headers.get("access-control-allow-methods")).toBeNull();
});

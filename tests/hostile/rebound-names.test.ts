import { request } from "node:http";
import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";

const PATHS = ["/inspector", "/readyz", "/healthz", "/docs"];

async function start(env: Readonly<Record<string, string>> = {}): Promise<TestServer> {
  return await startTestServer({ env });
}

/** Which paths are refused to a request that names this host; `fetch` lets nobody choose it. */
async function refused(server: TestServer, host: string, headers: object = {}): Promise<string> {
  const all = await Promise.all(
    PATHS.map(async (path) => {
      const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
      const sent = request(new URL(path, server.url), { headers: { ...headers, host } }, (reply) => {
        reply.resume();
        resolve(reply.statusCode);
      });
      sent.once("error", reject).end();
      return (await promise) === 403;
    }),
  );
  if (all.every((isRefused) => isRefused)) return "all";
  return PATHS.filter((_path, index) => all[index]).join() || "none";
}

test("a page that points its own name at this machine gets no page and no readiness", async () => {
  verifies("http.host.no-rebound-name");
  const server = await start();
  const { host, port } = new URL(server.url);
  const forwarded = { "x-forwarded-for": "203.0.113.7" };
  for (const name of [`evil.example:${port}`, "evil.example", `127.0.0.1.evil.example:${port}`])
    expect(await refused(server, name), name).toBe("all");
  expect(await refused(server, `evil.example:${port}`, forwarded)).toBe("all"); // A page can send these headers.
  for (const own of [
    host,
    `localhost:${port}`,
    `[::1]:${port}`,
    `lab.localhost:${port}`,
    `antiphon:${port}`,
    "10.0.0.7",
  ])
    expect(await refused(server, own), own).toBe("none");
  expect(await refused(server, "api.example", forwarded)).toBe("none");
});

test("names of CORS_ORIGINS are the server's own", async () => {
  verifies("http.host.no-rebound-name");
  const server = await start({ CORS_ORIGINS: "https://api.example" });
  expect(await refused(server, "api.example")).toBe("none");
  expect(await refused(server, "evil.example")).toBe("all");
});

import { expect, test } from "vitest";
import { startTestServer } from "./kit/test-server.ts";
import { verifies } from "./verifies.ts";

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

test("the root sends browsers to the inspector, and tells programs where the API is", async () => {
  verifies("transport.routing.root-leads-on");
  const server = await startTestServer();
  const get = (accept: string): Promise<Response> =>
    fetch(`${server.url}/`, { headers: { accept }, redirect: "manual" });
  const shown = await get(BROWSER);
  expect(shown.status).toBe(302);
  expect(new URL(shown.headers.get("location") ?? "", `${server.url}/`).href).toBe(`${server.url}/inspector`);
  expect(shown.headers.get("vary")?.toLowerCase()).toContain("accept");
  for (const accept of ["*/*", "application/json"]) {
    const told = await get(accept);
    expect(told.status).toBe(200);
    expect(await told.json()).toMatchObject({
      name: "antiphon",
      api: "/v1",
      reference: "/docs",
      openapi: "/openapi.json",
    });
    expect(told.headers.get("vary")?.toLowerCase()).toContain("accept");
  }
});

import { afterAll, beforeAll, expect, test } from "vitest";
import { notImplementedOperations } from "../../src/servers/handlers/responses-api-handlers.ts";
import { contractOperations } from "../hostile/contract-operations.ts";
import { localSttDocument } from "../hostile/contract-schema.ts";
import { type LocalSttServer, startLocalSttServer } from "../local-stt-server.ts";
import { startTestServer, type TestServer } from "../test-server.ts";
import { verifies } from "../verifies.ts";

let speech: LocalSttServer;
let responses: TestServer;
beforeAll(async () => {
  [speech, responses] = await Promise.all([startLocalSttServer(), startTestServer()]);
});
afterAll(() => Promise.all([speech.close(), responses.close()]));

test.each([
  ["the speech server", "local-stt", () => speech.url],
  ["the Responses API", "responses-api", () => responses.url],
])("%s publishes its document, and shows it to people without anything from elsewhere", async (_what, name, url) => {
  verifies("stt.docs.served");
  const document = await (await fetch(`${url()}/openapi.json`)).json();
  expect(document).toMatchObject({ openapi: expect.stringMatching(/^3\.1/), paths: expect.any(Object) });
  const page = await fetch(`${url()}/docs`);
  expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
  const html = await page.text();
  for (const part of [`<html lang="en" data-interface="${name}">`, `<script type="application/json" id="${name}">`])
    expect(html.includes(part), part).toBe(true);
  const loaded = [...html.matchAll(/<(?:script|link|img)[^>]*(?:src|href)="([^"]+)"/g)].map(([, from]) => from);
  expect(loaded).toEqual(["/docs/redoc.standalone.js"]);
  expect((await fetch(`${url()}${loaded[0]}`)).status).toBe(200);
});

const withSamples = contractOperations().filter(
  ({ operationId, bodyTypes }) =>
    bodyTypes.includes("application/json") && !notImplementedOperations().some((id) => id === operationId),
);

test.each(withSamples)("the Responses API accepts the sample request of $operationId", async ({ path, example }) => {
  verifies("stt.docs.served");
  const { id } = Object(await (await responses.post("/v1/conversations", {})).json());
  const reply = await responses.post(path.replaceAll(/\{\w+\}/g, id), example);
  expect(reply.status, await reply.text()).toBe(200);
});

test("the speech server accepts the sample request of /format", async () => {
  verifies("stt.docs.served");
  const samples = contractOperations(localSttDocument).filter(({ example }) => example !== undefined);
  expect(samples.map(({ operationId }) => operationId)).toContain("format");
  for (const { path, example } of samples) {
    const headers = { "content-type": "application/json" };
    const reply = await fetch(speech.url + path, { method: "POST", headers, body: JSON.stringify(example) });
    expect(reply.status, await reply.text()).toBe(200);
  }
});

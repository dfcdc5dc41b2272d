import { request } from "node:http";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CHROMIUM, startChromium } from "../chromium.ts";
import { serveHttp } from "../kit/http-server.ts";
import { readResponse } from "../responses/read-stream.ts";
import { serveSlowModel } from "../runs/slow-model.ts";
import { verifies } from "../verifies.ts";

let browser: Browser;

/** The page: collects what its EventSource says in `seen`, and counts how often it was told to stop. */
const LISTEN = `
  window.seen = [];
  window.source = new EventSource(location.pathname + "/events?dialect=reference");
  const keep = (event) => seen.push([event.lastEventId, JSON.parse(event.data).type]);
  for (const type of ["response.created", "response.output_text.delta", "response.completed"])
    source.addEventListener(type, keep);
`;

describe.skipIf(CHROMIUM === null)("the EventSource of a browser", () => {
  beforeAll(async () => {
    browser = await startChromium();
  });
  afterAll(() => browser?.close());

  test("continues where it lost its connection, and stops after the terminal event", async () => {
    verifies("responses.replay.event-ids", "responses.replay.event-source-ends");
    const { server, create, call } = await serveSlowModel();
    const { id } = await readResponse(await create({ background: true }));
    const model = await call(0);
    const statuses: number[] = [];
    let cut = (): void => {};
    // An EventSource sends no key, so an app passes its calls on.
    const app = await serveHttp((asked, reply) => {
      if (!asked.url?.includes("/events")) return void reply.writeHead(200, { "content-type": "text/html" }).end("<p>");
      const headers = { ...asked.headers, authorization: `Bearer ${server.apiKey}` };
      const passed = request(`${server.url}/v1/responses${asked.url}`, { headers }, (answer) => {
        statuses.push(answer.statusCode ?? 0);
        reply.writeHead(answer.statusCode ?? 500, answer.headers);
        reply.flushHeaders();
        answer.on("error", () => {}).pipe(reply);
      });
      passed.on("error", () => {}).end();
      reply.on("close", () => passed.destroy());
      cut = () => reply.destroy();
    });
    const page = await browser.newPage();
    await page.goto(`${app.url}/${id}`);
    await page.evaluate(LISTEN);
    const seen = (): Promise<[string, string][]> => page.evaluate("seen");
    const typesSeen = async (): Promise<string[]> => (await seen()).map(([, type]) => type);
    model.say("One ");
    await expect.poll(typesSeen).toContain("response.output_text.delta");
    cut();
    model.say("two ");
    await expect.poll(async () => (await seen()).length).toBe(3); // The browser waits three seconds.
    cut();
    model.say("three");
    model.finish();
    await expect.poll(typesSeen).toContain("response.completed");
    await expect.poll(() => page.evaluate("source.readyState")).toBe(2); // CLOSED: it will not connect again.
    const numbers = (await seen()).map(([number]) => Number(number));
    expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
    expect(await typesSeen()).toEqual([
      "response.created",
      ...Array(3).fill("response.output_text.delta"),
      "response.completed",
    ]);
    expect(statuses).toEqual([200, 200, 200, 204]);
    await page.close();
  });
});

import { createParser } from "eventsource-parser";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CHROMIUM } from "../../tests/local-stt/chat-lab-page.ts";
import { startTestServer, type TestServer } from "../../tests/test-server.ts";
import { verifies } from "../../tests/verifies.ts";
import { RECORDINGS } from "../recorded-parity/recordings.fixture.ts";
import { type RendererCase, recordedCases, scenarioOfCases, WRITTEN_CASES } from "./cases.fixture.ts";
import { compare, type Theatre } from "./compare.fixture.ts";
import { buildPage } from "./page-files.fixture.ts";
import { startProxy } from "./proxy.fixture.ts";
import type { Frame, Source } from "./show.fixture.ts";
import { openViewer } from "./viewer.fixture.ts";

const recorded = RECORDINGS === undefined ? [] : recordedCases(RECORDINGS);
const cases = [...WRITTEN_CASES, ...recorded];

let browser: Browser;
let server: TestServer;
let theatre: Theatre;

describe.skipIf(CHROMIUM === null)("a chat page and a list of events", () => {
  beforeAll(async () => {
    const [page, ...started] = await Promise.all([
      buildPage(),
      chromium.launch({ executablePath: CHROMIUM ?? "", args: ["--no-sandbox"] }),
      startTestServer({ scenario: scenarioOfCases(cases) }),
    ]);
    [browser, server] = started;
    const [proxy, reference, ours] = await Promise.all([startProxy(page), openViewer(browser), openViewer(browser)]);
    theatre = { proxy, viewers: [reference, ours] };
  });
  afterAll(async () => {
    theatre?.proxy.close();
    await Promise.all([browser?.close(), server?.close()]);
  });

  test.each(cases)("$name: cannot be told from the reference at any step", async (shown) => {
    const started = Date.now();
    const { steps, differences } = await compare(theatre, shown, {
      reference: referenceOf(shown),
      ours: askServer,
    });
    console.log(shown.name, steps, Date.now() - started);
    expect(differences.join("\n")).toBe("");
    expect(steps).toBeGreaterThanOrEqual(shown.streams.reduce((sum, { events }) => sum + events.length, 2));
  });
});

function referenceOf({ streams }: RendererCase): Source {
  return (_, turn) =>
    Promise.resolve((streams[turn]?.events ?? []).map((event) => ({ name: event.type, data: event })));
}

async function askServer(request: unknown): Promise<readonly Frame[]> {
  const reply = await server.post("/v1/responses", request);
  const text = await reply.text();
  if (reply.status !== 200) throw new Error(`Our server answered ${reply.status}: ${text}`);
  const frames: Frame[] = [];
  createParser({ onEvent: ({ event = "", data }) => frames.push({ name: event, data: JSON.parse(data) }) }).feed(text);
  return frames;
}

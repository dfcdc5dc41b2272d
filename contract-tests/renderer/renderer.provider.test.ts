import { createParser } from "eventsource-parser";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtPage } from "../../tests/built-page.ts";
import { CHROMIUM, startChromium } from "../../tests/chromium.ts";
import { startTestServer, type TestServer } from "../../tests/kit/test-server.ts";
import { verifies } from "../../tests/verifies.ts";
import { RECORDINGS } from "../recorded-parity/recordings.fixture.ts";
import {
  RECORDED_CASES,
  type RendererCase,
  readRecordedCase,
  scenarioOfCases,
  WRITTEN_CASES,
} from "./cases.fixture.ts";
import { type BrowserPair, compare, keepScreenshots } from "./compare.fixture.ts";
import { FAULTS } from "./faults.fixture.ts";
import { startProxy } from "./proxy.fixture.ts";
import type { Frame, Source, Stream } from "./show.fixture.ts";
import { openViewer } from "./viewer.fixture.ts";

if (CHROMIUM === null)
  console.warn("Tests of what a chat page shows are left out: there is no Chromium. CHROMIUM_PATH names one.");

const PAGE = new URL("page/", import.meta.url).pathname;
const folder = RECORDINGS;
const recorded = folder === undefined ? [] : RECORDED_CASES.map((one) => readRecordedCase(folder, one));

let browser: Browser;
let server: TestServer;
let browsers: BrowserPair;

describe.skipIf(CHROMIUM === null)("a chat page and a list of events (CHROMIUM_PATH)", () => {
  beforeAll(async () => {
    const [page, ...started] = await Promise.all([
      builtPage(PAGE),
      startChromium(),
      startTestServer({ scenario: scenarioOfCases([...WRITTEN_CASES, ...recorded]) }),
    ]);
    [browser, server] = started;
    const [proxy, reference, ours] = await Promise.all([startProxy(page), openViewer(browser), openViewer(browser)]);
    browsers = { proxy, viewers: [reference, ours] };
  });
  afterAll(async () => {
    browsers?.proxy.close();
    await Promise.all([browser?.close(), server?.close()]);
  });

  test.each(WRITTEN_CASES)("$name: both pages are equal at every step", async (shown) => {
    verifies("contract.parity.same-in-a-chat-page");
    await checkSame(shown);
  });

  test.for(RECORDED_CASES)("$name: both pages are equal at every step", async ({ name }, { skip }) => {
    skip(folder === undefined, "recorded streams in a chat page (REFERENCE_RECORDINGS)");
    verifies("contract.parity.same-in-a-chat-page");
    await checkSame(caseOf(name));
  });

  test.each(FAULTS)("$of: a difference is found if $title", async ({ title, of, seed }) => {
    const shown = caseOf(of);
    const ours: Source = async (request) => {
      const stream = await askServer(request);
      return { ...stream, frames: seed(stream.frames) };
    };
    const { differences } = await compare(browsers, shown, { reference: referenceOf(shown), ours });
    const found = differences.join("\n");
    expect(found, title).toMatch(/^DOM, from line/m);
    expect(found, title).toMatch(/^accessibility tree, from line/m);
    expect(found, title).toMatch(/^Screenshot: other pixels/m);
  });
});

async function checkSame(shown: RendererCase): Promise<void> {
  const compared = await compare(browsers, shown, { reference: referenceOf(shown), ours: askServer });
  const { steps, differences } = compared;
  if (differences.length > 0) expect.fail([...differences, ...(await keepScreenshots(shown, compared))].join("\n"));
  const events = shown.streams.reduce((sum, stream) => sum + stream.events.length, 0);
  expect(steps, "each request, each event, and the end").toBe(shown.streams.length + events + 1);
}

function caseOf(name: string): RendererCase {
  const found = [...WRITTEN_CASES, ...recorded].find((one) => one.name === name);
  if (found === undefined) throw new Error(`there is no case named ${name}`);
  return found;
}

function referenceOf({ streams }: RendererCase): Source {
  return (_, turn) => {
    const events = streams[turn]?.events ?? [];
    const frames = events.map((event) => ({ name: event.type, data: event }));
    return Promise.resolve({ contentType: "text/event-stream; charset=utf-8", frames });
  };
}

async function askServer(request: unknown): Promise<Stream> {
  const reply = await server.post("/v1/responses", request);
  const text = await reply.text();
  if (reply.status !== 200) throw new Error(`Our server answered ${reply.status}: ${text}`);
  const frames: Frame[] = [];
  createParser({ onEvent: ({ event = "", data }) => frames.push({ name: event, data: JSON.parse(data) }) }).feed(text);
  return { contentType: reply.headers.get("content-type") ?? "", frames };
}

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { Antiphon } from "../../packages/client/src/index.ts";
import { startChromium } from "../../tests/chromium.ts";
import { type DemoServer, startDemoServer } from "../demo/demo-server.ts";

/** The deltas of the run. */
const DELTAS = 10_000;
const SCROLL_MS = 4_000;

/**
 * Measures the frames that the inspector draws while its list of events is scrolled from end to end, for a run of
 * 10,000 events. `make page` builds the page.
 */
export async function measureEventList(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "antiphon-bench-"));
  const scenario = join(folder, "scenario.yaml");
  const chunks = Array.from({ length: DELTAS }, (_, index) => `word-${index} `);
  await writeFile(scenario, JSON.stringify({ scenarios: [{ events: [{ text: { chunks } }] }] }));
  const server = await startDemoServer({ SCENARIO_FILE: scenario });
  const browser = await startChromium();
  try {
    const client = new Antiphon({ baseUrl: server.url, apiKey: server.apiKey });
    const { id } = await client.createResponse({ model: "antiphon-built-in", input: "Go." });
    const openedAt = performance.now();
    const page = await openRun(browser, server, id);
    const openedMs = Math.round(performance.now() - openedAt);
    const label = await page.getByRole("listbox", { name: /^Events/ }).getAttribute("aria-label");
    const { frames, ms, slowestMs } = await page.evaluate(scrollList, SCROLL_MS);
    const rate = Math.round((frames / ms) * 1000);
    console.log(`${label}: opened in ${openedMs} ms, scrolled at ${rate} frames/s, slowest frame ${slowestMs} ms`);
  } finally {
    await browser.close();
    await server.close();
    await rm(folder, { recursive: true });
  }
}

async function openRun(browser: Browser, server: DemoServer, id: string): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  await context.addInitScript(`sessionStorage.setItem("antiphon.key", ${JSON.stringify(server.apiKey)})`);
  const page = await context.newPage();
  await page.goto(`${server.url}/inspector?run=${id}`);
  await page.getByText("No rule broken").waitFor();
  return page;
}

/** Runs in the page: scrolls the list down and up again, and counts the frames. */
async function scrollList(scrollMs: number): Promise<{ frames: number; ms: number; slowestMs: number }> {
  const list = document.querySelector("[role=listbox]");
  if (list === null) throw new Error("The page has no list of events.");
  const startedAt = performance.now();
  const span = list.scrollHeight - list.clientHeight;
  let frames = 0;
  let before = startedAt;
  let slowestMs = 0;
  while (before - startedAt < scrollMs) {
    const now = await new Promise<number>((resolve) => requestAnimationFrame(resolve));
    slowestMs = Math.max(slowestMs, Math.round(now - before));
    before = now;
    frames += 1;
    const share = (now - startedAt) / scrollMs;
    list.scrollTop = span * (share < 0.5 ? share * 2 : 2 - share * 2);
  }
  return { frames, ms: before - startedAt, slowestMs };
}

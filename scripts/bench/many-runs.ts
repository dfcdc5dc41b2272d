import type { Browser } from "playwright-core";
import { startChromium } from "../../tests/chromium.ts";
import { createDatabase } from "../../tests/services/databases.ts";
import { startPostgres, whyNoPostgres } from "../../tests/services/postgres-server.ts";
import { makeDemoRuns } from "../demo/demo-runs.ts";
import { type DemoServer, startDemoServer } from "../demo/demo-server.ts";
import { fillStore } from "../demo/fill-store.ts";
import { median } from "./statistics.ts";

const RUNS = 100_000;
/** Times that each page is opened. */
const ROUNDS = Number(process.env["BENCH_ROUNDS"] ?? 7);
const DAY_SECONDS = 86_400;

/** What is opened, and the query of its URL. */
const VIEWS: readonly (readonly [name: string, query: string])[] = [
  ["last day, all runs", "?span=24h"],
  ["all time", "?span=all"],
  ["failed runs of a model", "?span=24h&status=failed&model=atlas-mini"],
  ["runs with metadata", "?span=24h&metadata=customer%3Dacme"],
  ["words", "?span=24h&q=museum%20lisbon"],
];

/**
 * Measures how soon the list of the inspector and its plots are filled, from the navigation on, with 100,000 stored
 * runs of the last day on SQLite and on PostgreSQL. The cache of the browser is empty. `make page` builds the page.
 */
export async function measureManyRuns(): Promise<void> {
  const browser = await startChromium();
  try {
    if (process.env["BENCH_STORE"] !== "postgres") await measureStore(browser, "SQLite", null);
    const why = whyNoPostgres();
    if (why !== undefined) return console.log(`PostgreSQL: ${why}`);
    const postgres = await startPostgres();
    try {
      await measureStore(browser, "PostgreSQL", await createDatabase(postgres.url()));
    } finally {
      await postgres.stop();
    }
  } finally {
    await browser.close();
  }
}

async function measureStore(browser: Browser, name: string, databaseUrl: string | null): Promise<void> {
  const env = databaseUrl === null ? {} : { DATABASE_URL: databaseUrl, SEAL_KEYS: "0123456789abcdef".repeat(4) };
  const server = await startDemoServer(env);
  try {
    await makeDemoRuns(server);
    const startedAt = performance.now();
    await fillStore({ dataDir: server.dataDir, databaseUrl }, { count: RUNS, spanSeconds: DAY_SECONDS });
    console.log(`\n${name}: ${RUNS} runs were added in ${Math.round(performance.now() - startedAt)} ms`);
    for (const [view, query] of VIEWS) {
      const opened: Opened[] = [];
      for (let round = 0; round < ROUNDS; round++) opened.push(await open(browser, server, query));
      const list = opened.map(({ listMs }) => listMs);
      const plots = opened.map(({ plotsMs }) => plotsMs);
      console.log(
        `${view}: list ${median(list)} ms (slowest ${Math.max(...list)}), list and plots ${median(plots)} ms (slowest ${Math.max(...plots)})`,
      );
    }
  } finally {
    await server.close();
  }
}

/** Milliseconds since the navigation began. */
interface Opened {
  readonly listMs: number;
  readonly plotsMs: number;
}

async function open(browser: Browser, { url, apiKey }: DemoServer, query: string): Promise<Opened> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  await context.addInitScript(`sessionStorage.setItem("antiphon.key", ${JSON.stringify(apiKey)})`);
  const page = await context.newPage();
  await page.goto(`${url}/inspector${query}`, { waitUntil: "commit" });
  const listMs = await page.evaluate(shownAt, "tr[data-run]");
  const plotsMs = await page.evaluate(shownAt, ".plot svg g");
  await context.close();
  return { listMs, plotsMs: Math.max(listMs, plotsMs) };
}

/** Runs in the page: milliseconds from the navigation to the frame that shows such an element. */
async function shownAt(selector: string): Promise<number> {
  while (document.querySelector(selector) === null) await new Promise((resolve) => requestAnimationFrame(resolve));
  return Math.round(performance.now());
}

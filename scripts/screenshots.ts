/**
 * Takes the pictures in docs/images/ of the inspector and the playground, from runs of a server that it starts. Needs
 * Chromium and the built pages: `make screenshots`.
 */

import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { startChromium } from "../tests/chromium.ts";
import { makeDemoRuns } from "./demo/demo-runs.ts";
import { type DemoServer, startDemoServer } from "./demo/demo-server.ts";
import { fillStore } from "./demo/fill-store.ts";

const IMAGES = resolve(import.meta.dirname, "../docs/images");
const DESKTOP = { width: 1440, height: 900 };
/** High enough for the answer of the run. */
const TALL = { width: 1440, height: 1120 };
const PHONE = { width: 390, height: 844 };

await mkdir(IMAGES, { recursive: true });
const server = await startDemoServer();
const browser = await startChromium();
try {
  const runs = await makeDemoRuns(server);
  const run = `?run=${runs.weekend.id}`;
  await take({ browser, server }, { name: "inspector", query: run, ready: "Items", look: { viewport: TALL } });
  await take(
    { browser, server },
    { name: "inspector-dark", query: run, ready: "Items", look: { viewport: TALL, colorScheme: "dark" } },
  );
  await take({ browser, server }, { name: "inspector-phone", query: run, ready: "Items", look: { viewport: PHONE } });
  const compare = `?left=${runs.weekend.id}&right=${runs.shortWeekend.id}`;
  await take({ browser, server }, { name: "compare", query: compare, ready: "Answer", look: { viewport: DESKTOP } });
  await take(
    { browser, server },
    {
      name: "playground",
      query: "?page=playground",
      ready: "Playground",
      look: { viewport: DESKTOP },
      use: usePlayground,
    },
  );
  await fillStore({ dataDir: server.dataDir, databaseUrl: null }, { count: 1_200, spanSeconds: 86_400 });
  await take({ browser, server }, { name: "runs", query: "", ready: "Runs", look: { viewport: DESKTOP } });
} finally {
  await browser.close();
  await server.close();
}

interface Picture {
  readonly name: string;
  readonly query: string;
  /** A heading that is there once the page can be shown. */
  readonly ready: string;
  readonly look: BrowserContextOptions;
  readonly use?: (page: Page, server: DemoServer) => Promise<void>;
}

async function take(
  { browser: opened, server: started }: { readonly browser: Browser; readonly server: DemoServer },
  { name, query, ready, look, use }: Picture,
): Promise<void> {
  const context = await opened.newContext({ colorScheme: "light", reducedMotion: "reduce", ...look });
  await context.addInitScript(`sessionStorage.setItem("antiphon.key", ${JSON.stringify(started.apiKey)})`);
  const page = await context.newPage();
  await page.goto(`${started.url}/inspector${query}`);
  await page.getByRole("heading", { name: ready, exact: true }).waitFor();
  await page.waitForLoadState("networkidle");
  await use?.(page, started);
  await page.evaluate("document.fonts.ready");
  await page.screenshot({ path: join(IMAGES, `${name}.png`) });
  await context.close();
  console.log(`docs/images/${name}.png`);
}

/** Asks for a refund, which needs an approval. */
async function usePlayground(page: Page, { mcpUrl }: DemoServer): Promise<void> {
  await page.getByLabel("Model", { exact: true }).fill("atlas-mini");
  await page.getByLabel("Instructions").fill("You help customers of a shop.");
  await page.getByLabel("Add a tool").selectOption("MCP server");
  await page.locator(".tool-card summary").click();
  const tool = { type: "mcp", server_label: "weather", server_url: mcpUrl, require_approval: "always" };
  await page.getByLabel("Tool mcp my_server").fill(JSON.stringify(tool, null, 2));
  await page.locator(".tool-card summary").click();
  await page.getByLabel("Message").fill("Please refund order A-1042.");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Approve" }).waitFor();
}

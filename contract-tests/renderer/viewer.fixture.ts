import type { Browser, CDPSession, Page } from "playwright-core";
import { describeTree } from "./accessibility-tree.fixture.ts";
import type { PageConnection } from "./proxy.fixture.ts";

/** The document, accessibility tree and pixels of a page at one moment. */
export interface Snapshot {
  /** False if the page did not reach the awaited state within `SETTLE_MAX_MS`. */
  readonly isSettled: boolean;
  readonly dom: string;
  readonly accessibility: string;
  /** A PNG image. Equal pixels give equal bytes. */
  readonly screenshot: Buffer;
}

/** The state that a page reaches once it has shown the last event. */
export interface Awaited {
  /** Number of lines in the page's list of events. */
  readonly lines: number;
  /** True if the chat waits for no further event. */
  readonly isOver: boolean;
}

/** A browser window that shows one page after another. */
export interface Viewer {
  visit(connection: PageConnection, query: string): Promise<void>;
  say(text: string): Promise<void>;
  snapshot(awaited: Awaited): Promise<Snapshot>;
  /** Waits by a timer of the page. */
  sleep(milliseconds: number): Promise<void>;
  /** Uncaught errors of the current page. */
  uncaughtErrors(): readonly string[];
  /** Console errors of the current page. The AI SDK writes one for a stream's error event. */
  consoleErrors(): readonly string[];
}

const SETTLE_MAX_MS = 15_000;
const VIEWPORT = { width: 800, height: 600 };

export async function openViewer(browser: Browser): Promise<Viewer> {
  const context = await browser.newContext({ viewport: VIEWPORT, reducedMotion: "reduce" });
  const page = await context.newPage();
  let uncaught: string[] = [];
  let told: string[] = [];
  page.on("pageerror", ({ message }) => uncaught.push(message));
  page.on("console", (message) => {
    if (message.type() === "error") told.push(message.text());
  });
  const devtools = await context.newCDPSession(page);
  return {
    visit: async (connection, query) => {
      await page.setExtraHTTPHeaders({ ...connection.headers });
      await page.goto(`${connection.url}/?${query}`);
      uncaught = [];
      told = [];
    },
    say: async (text) => {
      await page.getByLabel("Message").fill(text);
      await page.keyboard.press("Enter");
    },
    snapshot: (awaited) => takeSnapshot(page, devtools, awaited),
    sleep: (milliseconds) => page.evaluate((ms) => new Promise((resolve) => setTimeout(resolve, ms)), milliseconds),
    uncaughtErrors: () => uncaught,
    consoleErrors: () => told,
  };
}

async function takeSnapshot(page: Page, devtools: CDPSession, awaited: Awaited): Promise<Snapshot> {
  const { isSettled, dom } = await page.evaluate(settle, { ...awaited, settleMaxMs: SETTLE_MAX_MS });
  const [{ nodes }, { data }] = await Promise.all([
    devtools.send("Accessibility.getFullAXTree"),
    devtools.send("Page.captureScreenshot", { format: "png", optimizeForSpeed: true }),
  ]);
  return { isSettled, dom, accessibility: describeTree(nodes), screenshot: Buffer.from(data, "base64") };
}

/** Runs in the page: waits for the awaited state and for two frames without a change, then returns the document. */
async function settle(awaited: Awaited & { settleMaxMs: number }): Promise<{ isSettled: boolean; dom: string }> {
  const QUIET_FRAMES = 2;
  const startedAt = performance.now();
  const isThere = (): boolean =>
    document.querySelectorAll("#events > li").length >= awaited.lines &&
    (!awaited.isOver || /^(ready|error)$/.test(document.querySelector("#status")?.textContent ?? ""));
  let changes = 0;
  const observer = new MutationObserver(() => {
    changes += 1;
  });
  observer.observe(document, { attributes: true, characterData: true, childList: true, subtree: true });
  let isLate = false;
  for (let quiet = 0; quiet < QUIET_FRAMES && !isLate; ) {
    const before = changes;
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    quiet = changes === before && isThere() ? quiet + 1 : 0;
    isLate = performance.now() - startedAt > awaited.settleMaxMs;
  }
  observer.disconnect();
  const describe = (node: Node, indent: string): string[] => {
    if (!(node instanceof Element)) return (node.textContent ?? "").trim() === "" ? [] : [indent + node.textContent];
    const attributes = [...node.attributes].map(({ name, value }) => ` ${name}="${value}"`).toSorted();
    const value = node instanceof HTMLInputElement ? [`${indent}  value: ${node.value}`] : [];
    const children = [...node.childNodes].flatMap((child) => describe(child, `${indent}  `));
    return [`${indent}<${node.localName}${attributes.join("")}>`, ...value, ...children];
  };
  return { isSettled: !isLate, dom: describe(document.documentElement, "").join("\n") };
}

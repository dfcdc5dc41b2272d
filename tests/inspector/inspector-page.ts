import { execFileSync } from "node:child_process";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import type { DemoServer } from "../../scripts/demo/demo-server.ts";
import { openPage } from "../local-stt/chat-lab-page.ts";

/** Builds the pages if their sources have changed. */
export function buildPages(): void {
  execFileSync("make", ["--silent", "--old-file=node_modules/.package-lock.json", "page"]);
}

/**
 * Opens the inspector as somebody who has signed in. `query` is that of its URL. The test fails if the page logs an
 * error.
 */
export async function openInspector(
  browser: Browser,
  { server, query = "" }: { readonly server: Pick<DemoServer, "url" | "apiKey">; readonly query?: string },
  options: BrowserContextOptions = {},
): Promise<Page> {
  const page = await openPage(browser, `${server.url}/inspector`, options);
  await page.evaluate((key) => sessionStorage.setItem("antiphon.key", key), server.apiKey);
  await page.goto(`${server.url}/inspector${query}`);
  return page;
}

/** The accessible name of the element with the focus. */
export function focusedName(page: Page): Promise<string> {
  return page.evaluate(() => {
    const element = document.activeElement;
    return element?.getAttribute("aria-label") ?? element?.textContent ?? "";
  });
}

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import axe, { type AxeResults } from "axe-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";

/** The folder for screenshots of each run. */
const SCREENSHOTS = join(import.meta.dirname, "../../build/screenshots");

/** Opens the page until the test ends. The test fails if the page logs an error. */
export async function openPage(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    reducedMotion: "reduce",
    ...options,
  });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => {
    const isExpected = /Failed to load resource|WebSocket|ERR_CONNECTION_REFUSED|api[.]example[.]com/.test(
      message.text(),
    );
    if (message.type() === "error" && !isExpected) faults.push(message.text());
  });
  onTestFinished(async () => {
    await context.close();
    expect(faults).toEqual([]);
  });
  await page.goto(url);
  return page;
}

export async function keep(page: Page, name: string): Promise<void> {
  await mkdir(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
}

/** The violations that axe-core finds against WCAG 2.2 AA and its best practices, each as `rule: element`. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResults>("axe.run(document)");
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(" ")}`));
}

/** Every text of an element, or value of an attribute, from now on, oldest first. */
export async function changesOf(page: Page, selector: string, attribute?: string): Promise<readonly string[]> {
  const texts: string[] = [];
  const read = attribute === undefined ? "textContent" : `getAttribute("${attribute}")`;
  const tell = `tell_${selector.replaceAll(/\W/g, "")}`;
  await page.exposeFunction(tell, (text: string) => texts.push(text));
  await page.evaluate(`{
    const element = document.querySelector(${JSON.stringify(selector)});
    new MutationObserver(() => ${tell}(element.${read})).observe(element, { childList: true, attributes: true, characterData: true, subtree: true });
  }`);
  return texts;
}

/** Drops files on the page as a user would. */
export async function drop(page: Page, files: Readonly<Record<string, Uint8Array>>): Promise<void> {
  const held = Object.entries(files).map(([name, bytes]) => ({ name, base64: Buffer.from(bytes).toString("base64") }));
  const transfer = await page.evaluateHandle((given) => {
    const data = new DataTransfer();
    for (const { name, base64 } of given)
      data.items.add(new File([Uint8Array.from(atob(base64), (letter) => letter.codePointAt(0) ?? 0)], name));
    return data;
  }, held);
  for (const type of ["dragover", "drop"]) await page.dispatchEvent("main", type, { dataTransfer: transfer });
}

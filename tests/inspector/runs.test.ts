import { readFile } from "node:fs/promises";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { type DemoRuns, makeDemoRuns } from "../../scripts/demo/demo-runs.ts";
import { type DemoServer, startDemoServer } from "../../scripts/demo/demo-server.ts";
import { CHROMIUM, startChromium } from "../chromium.ts";
import { startTestServer } from "../kit/test-server.ts";
import { accessibilityFaults, keep, openPage } from "../local-stt/chat-lab-page.ts";
import { verifies } from "../verifies.ts";
import { buildPages, focusedName, openInspector } from "./inspector-page.ts";

/** What a cell with a duration says, in milliseconds; -1 if it says none. */
function millisecondsOf(text: string): number {
  const [, number, unit] = /^([\d.]+) (ms|s)$/.exec(text) ?? [];
  return number === undefined ? -1 : Number(number) * (unit === "s" ? 1000 : 1);
}

const PHONE = { viewport: { width: 390, height: 844 } };

let browser: Browser;
let server: DemoServer;
let runs: DemoRuns;

describe.skipIf(CHROMIUM === null)("the list of runs", () => {
  beforeAll(async () => {
    buildPages();
    [browser, server] = await Promise.all([startChromium(), startDemoServer()]);
    runs = await makeDemoRuns(server);
  });

  afterAll(async () => {
    await Promise.all([browser?.close(), server?.close()]);
  });

  test("asks for a key, refuses a wrong one, and keeps it for the tab only", async () => {
    const page = await openPage(browser, `${server.url}/inspector`);
    await page.getByLabel("API key").fill("sk-wrong");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText(/key/i).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByLabel("API key").fill(server.apiKey);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Runs" }).waitFor();
    expect(await page.evaluate(() => JSON.stringify({ ...localStorage }))).not.toContain(server.apiKey);
    await page.reload();
    await page.getByRole("heading", { name: "Runs" }).waitFor();
    await page.getByRole("button", { name: "Forget the key" }).click();
    await page.getByLabel("API key").waitFor();
    await page.reload();
    await page.getByLabel("API key").waitFor();
  });

  test("shows every run, and only those that its URL asks for", async () => {
    const page = await openInspector(browser, { server });
    await page.getByRole("link", { name: "Are you overloaded?" }).waitFor();
    const all = await page.locator("tr[data-run]").count();
    await page.getByRole("button", { name: "failed" }).click();
    await expect.poll(() => page.locator("tr[data-run]").count()).toBe(1);
    expect(new URL(page.url()).searchParams.getAll("status")).toEqual(["failed"]);
    await page.getByRole("button", { name: "Clear" }).click();
    await expect.poll(() => page.locator("tr[data-run]").count()).toBe(all);

    const linked = await openInspector(browser, { server, query: "?metadata=customer%3Dacme" });
    await expect.poll(() => linked.locator("tr[data-run]").count()).toBe(1);
    expect(await linked.locator("tr[data-run]").getAttribute("data-run")).toBe(runs.weekend.id);
  });

  test("finds words of the input and output", async () => {
    const page = await openInspector(browser, { server });
    await page.getByRole("heading", { name: "Runs" }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("museum lisbon");
    await expect.poll(() => new URL(page.url()).searchParams.get("q")).toBe("museum lisbon");
    await expect
      .poll(() => page.locator("tr[data-run]").evaluateAll((rows) => rows.map((row) => row.getAttribute("data-run"))))
      .toEqual([runs.weekend.id, runs.shortWeekend.id]);
  });

  test("shows a run that begins while one looks, and how it ends", async () => {
    const page = await openInspector(browser, { server });
    await page.getByRole("link", { name: "Are you overloaded?" }).waitFor();
    const body = JSON.stringify({ model: "atlas-mini", input: "Please take your time.", background: true });
    const headers = { authorization: `Bearer ${server.apiKey}`, "content-type": "application/json" };
    await fetch(`${server.url}/v1/responses`, { method: "POST", headers, body });
    const row = page.locator("tr[data-run]").filter({ hasText: "Please take your time." });
    await row.getByText(/in progress|queued/).waitFor();
    await row.getByText("completed").waitFor();
  });

  test("says why a list is empty, and what to do", async () => {
    verifies("inspection.page.empty");
    const page = await openInspector(browser, { server, query: "?from=1&to=2" });
    await page.getByText("No runs were stored in this time.").waitFor();
    await page.getByRole("button", { name: "Show all time" }).click();
    await page.getByRole("link", { name: "Are you overloaded?" }).waitFor();
    await page.goto(`${server.url}/inspector?model=none`);
    await page.getByRole("button", { name: "Clear the filters" }).click();
    await page.getByRole("link", { name: "Are you overloaded?" }).waitFor();
    await page.goto(`${server.url}/inspector?run=resp_unknown`);
    await page.getByRole("heading", { name: "This run cannot be shown" }).waitFor();
    await page.getByRole("link", { name: "All runs", exact: true }).click();
    await page.getByRole("heading", { name: "Runs" }).waitFor();
  });

  test("says that a new server has no runs yet, and what it refused", async () => {
    verifies("inspection.page.empty", "inspection.refused.kept");
    const fresh = await startTestServer();
    await fresh.post("/v1/responses", { model: "m", input: "Hi", temperature: "hot" });
    const page = await openInspector(browser, { server: fresh });
    await page.getByText("No runs yet.").waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    const refused = page.locator("tr[data-refused]");
    await refused.getByText("Invalid type for 'temperature'").waitFor();
    await refused.getByText("refused", { exact: true }).waitFor();
    await refused.getByText(/by the key \S+/).waitFor();
    await page.getByRole("link", { name: "Open the playground" }).click();
    await page.getByLabel("Message").waitFor();
  });

  test("shows refused requests among the runs, and only where they can fit", async () => {
    verifies("inspection.refused.kept");
    const headers = { authorization: `Bearer ${server.apiKey}`, "content-type": "application/json" };
    const body = JSON.stringify({ model: "atlas-mini", input: "A refused question", temperature: "hot" });
    await fetch(`${server.url}/v1/responses`, { method: "POST", headers, body });
    const page = await openInspector(browser, { server, query: "?span=1h" });
    const row = page.locator("tr[data-refused]").filter({ hasText: "A refused question" });
    await row.getByText("400", { exact: true }).waitFor();
    await page.getByRole("button", { name: "failed" }).click();
    await row.waitFor();
    await page.getByRole("button", { name: "completed", exact: true }).click();
    await page.getByRole("button", { name: "failed" }).click();
    await expect.poll(() => row.count()).toBe(0);
    await page.goto(`${server.url}/inspector?q=nothing-of-the-kind`);
    await page.getByText("No stored runs fit these filters.").waitFor();
    expect(await row.count()).toBe(0);
  });

  test("orders the list by its figures, narrows it to a tool, and adds it up", async () => {
    verifies("inspection.page.list-is-ordered-and-saved");
    const page = await openInspector(browser, { server, query: "?span=1h" });
    await page.getByRole("link", { name: "Are you overloaded?" }).waitFor();
    await page.getByRole("button", { name: "Duration" }).click();
    const header = page.getByRole("columnheader", { name: "Duration" });
    await expect.poll(() => header.getAttribute("aria-sort")).toBe("descending");
    const durations = async (): Promise<readonly number[]> =>
      (await page.locator("tr[data-run] td:nth-child(6)").allInnerTexts()).map(millisecondsOf);
    expect(await durations()).toEqual((await durations()).toSorted((one, other) => other - one));
    expect(new URL(page.url()).searchParams.get("sort")).toBe("duration");
    await page
      .locator("tfoot")
      .getByText(/^\d+ runs in this list$/)
      .waitFor();
    await page.getByText("More filters").click();
    await page.getByLabel("Tool, of the runs in the list").selectOption({ index: 1 });
    const tool = new URL(page.url()).searchParams.get("tool");
    expect(tool).not.toBeNull();
    for (const shown of await page.locator("tr[data-run]").all())
      expect(await shown.locator(".tag[data-tool]").count()).toBeGreaterThan(0);
  });

  test("keeps views under names, and saves the list as CSV and JSONL", async () => {
    verifies("inspection.page.list-is-ordered-and-saved");
    const page = await openInspector(browser, { server, query: "?span=1h&status=failed&status=completed&sort=price" });
    await page.getByRole("link", { name: "Are you overloaded?" }).waitFor();
    await page.getByRole("button", { name: "Save this view" }).click();
    await page.getByLabel("Name of the view").fill("Dearest first");
    await page.keyboard.press("Enter");
    await page.goto(`${server.url}/inspector`);
    await page.getByLabel("Saved views").selectOption("Dearest first");
    await expect.poll(() => new URL(page.url()).searchParams.get("sort")).toBe("price");
    const shown = (): Promise<readonly (string | null)[]> =>
      page.locator("tr[data-run]").evaluateAll((rows) => rows.map((row) => row.getAttribute("data-run")));
    const saved = async (name: string): Promise<string> => {
      const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name }).click()]);
      return await readFile(await download.path(), "utf8");
    };
    const rows = (await saved("Save as JSONL")).trimEnd().split("\n");
    const ids = rows.map((row) => z.object({ id: z.string() }).parse(JSON.parse(row)).id);
    await expect.poll(shown).toEqual(ids);
    const table = await saved("Save as CSV");
    expect(table).toMatch(/^id,started,status,/);
    for (const id of ids) expect(table).toContain(`\r\n${id},`);
    await page.getByRole("button", { name: "Remove this view" }).click();
    await page.getByRole("button", { name: "Save this view" }).waitFor();
  });

  test("plots runs over time, and narrows the list to the time of a bar", async () => {
    const page = await openInspector(browser, { server, query: "?span=1h" });
    const plot = page.getByRole("slider", { name: "Runs over time" });
    await plot.focus();
    await expect
      .poll(async () => {
        await page.keyboard.press("ArrowLeft");
        return await plot.getAttribute("aria-valuetext");
      })
      .toMatch(/: [1-9]\d* runs$/);
    await page.keyboard.press("Enter");
    await expect.poll(() => new URL(page.url()).searchParams.has("from")).toBe(true);
    await page.getByText("$0.00", { exact: false }).first().waitFor();
  });

  test("is used with the keyboard alone", async () => {
    const page = await openInspector(browser, { server });
    await page.getByRole("link", { name: "Are you overloaded?" }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("j");
    const first = await focusedName(page);
    await page.keyboard.press("j");
    expect(await focusedName(page)).not.toBe(first);
    await page.keyboard.press("k");
    expect(await focusedName(page)).toBe(first);
    await page.keyboard.press("Enter");
    await page.getByRole("tab", { name: "Overview" }).waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("r");
    await page.getByRole("heading", { name: "Runs" }).waitFor();
  });

  test.each([
    ["wide-light", { colorScheme: "light" }],
    ["wide-dark", { colorScheme: "dark" }],
    ["phone-light", { ...PHONE, colorScheme: "light" }],
    ["phone-dark", { ...PHONE, colorScheme: "dark" }],
  ] as const)("has no accessibility faults: %s", async (name, options) => {
    const page = await openInspector(browser, { server, query: "?span=1h" }, options);
    await page.getByRole("link", { name: "Are you overloaded?" }).waitFor();
    await page.getByRole("slider", { name: "Latency over time" }).waitFor();
    await page.getByText("More filters").click();
    expect(await accessibilityFaults(page)).toEqual([]);
    await keep(page, `inspector-runs-${name}`);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  });
});

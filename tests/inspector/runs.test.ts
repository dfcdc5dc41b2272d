import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DemoRuns, makeDemoRuns } from "../../scripts/demo/demo-runs.ts";
import { type DemoServer, startDemoServer } from "../../scripts/demo/demo-server.ts";
import { CHROMIUM, startChromium } from "../chromium.ts";
import { startTestServer } from "../kit/test-server.ts";
import { accessibilityFaults, keep, openPage } from "../local-stt/chat-lab-page.ts";
import { verifies } from "../verifies.ts";
import { buildPages, focusedName, openInspector } from "./inspector-page.ts";

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
    const refused = page.getByRole("region", { name: "Refused requests" });
    await refused.locator("summary").click();
    await refused.getByText("Invalid type for 'temperature'").waitFor();
    await page.getByRole("link", { name: "Open the playground" }).click();
    await page.getByLabel("Message").waitFor();
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

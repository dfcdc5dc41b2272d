import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Antiphon } from "../../packages/client/src/index.ts";
import { type DemoRuns, makeDemoRuns } from "../../scripts/demo/demo-runs.ts";
import { type DemoServer, startDemoServer } from "../../scripts/demo/demo-server.ts";
import { CHROMIUM, startChromium } from "../chromium.ts";
import { accessibilityFaults, keep } from "../local-stt/chat-lab-page.ts";
import { type Answer, says, serveBehind } from "../responses/behind-upstream.ts";
import { readStream } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";
import { buildPages, openInspector } from "./inspector-page.ts";

/** The pauses that the model of the run makes, together. */
const RUN_MS_MIN = 1_500;
const TABS = ["Overview", "Request", "Upstream", "Tools", "Context", "Linter"];

/** A model server that has too much to do when it is asked for the first time. */
function failsOnce(): Answer {
  let asked = 0;
  return (response, call) => {
    asked += 1;
    if (asked > 1) return says("Done.")(response, call);
    response.writeHead(500).end();
  };
}

let browser: Browser;
let server: DemoServer;
let runs: DemoRuns;

describe.skipIf(CHROMIUM === null)("a run", () => {
  beforeAll(async () => {
    buildPages();
    [browser, server] = await Promise.all([startChromium(), startDemoServer()]);
    runs = await makeDemoRuns(server);
  });

  afterAll(async () => {
    await Promise.all([browser?.close(), server?.close()]);
  });

  const open = (id: string, tab = ""): Promise<Page> =>
    openInspector(browser, { server, query: `?run=${id}${tab === "" ? "" : `&tab=${tab}`}` });

  test("shows its items, its events and the linter's verdict", async () => {
    const page = await open(runs.weekend.id);
    await page.getByText("No rule broken").waitFor();
    const items = page.getByRole("region", { name: "Items" });
    for (const name of ["User", "MCP tools · weather", "Reasoning", "MCP weather · get_forecast", "Assistant"])
      await items.getByRole("article", { name }).waitFor();
    const lanes = page.getByRole("list", { name: "Course of the run" });
    await lanes.getByRole("button", { name: /^get_forecast\s*from .*, took/ }).waitFor();
    await lanes.getByRole("button", { name: /^Waiting\s*from/ }).waitFor();
    const events = page.getByRole("listbox", { name: /^Events/ });
    expect(await events.getAttribute("aria-label")).toMatch(/^Events, \d{3}$/);
    await page.getByText(/^Event \d+ as it was sent$/).click();
    await page
      .getByRole("group", { name: /^Event \d+$/ })
      .getByText('"response.completed"')
      .waitFor();
  });

  test("that came by another door shows its request in that door's words", async () => {
    verifies("inspection.doors.request");
    const reply = await fetch(`${server.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${server.apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "atlas-mini", messages: [{ role: "user", content: "Ahoy" }], store: true }),
    });
    const page = await open(reply.headers.get("x-antiphon-response-id") ?? "", "request");
    await page.getByText("by chat", { exact: true }).waitFor();
    const request = page.getByRole("region", { name: "Request" });
    await request.getByText("POST /v1/chat/completions").waitFor();
    await request.getByText('"messages"').waitFor();
  });

  test("is shown as it was at any event, by slider, keys and list", async () => {
    const page = await open(runs.weekend.id);
    await page.getByText("No rule broken").waitFor();
    const answer = page.getByRole("region", { name: "Items" }).getByRole("article", { name: "Assistant" });
    await answer.waitFor();
    await page.getByRole("slider", { name: "Event that is shown" }).focus();
    await page.keyboard.press("Home");
    await answer.waitFor({ state: "detached" });
    const events = page.getByRole("listbox", { name: /^Events/ });
    await events.focus();
    await page.keyboard.press("End");
    await answer.waitFor();
    await page.keyboard.press("Home");
    await answer.waitFor({ state: "detached" });
    await page.locator("#main").click({ position: { x: 2, y: 2 } });
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => events.locator("[aria-selected=true]").textContent()).toContain("in_progress");
  });

  test("is played at the speed at which it happened, and can be paused", async () => {
    const page = await open(runs.weekend.id);
    await page.getByText("No rule broken").waitFor();
    const startedAt = performance.now();
    await page.getByRole("button", { name: "Play" }).click();
    await page.getByRole("button", { name: "Pause" }).waitFor();
    await page.getByRole("button", { name: "Play" }).waitFor();
    expect(performance.now() - startedAt).toBeGreaterThan(RUN_MS_MIN);
    await page.getByRole("button", { name: "Play" }).click();
    await page.getByRole("button", { name: "Pause", exact: true }).click();
    const slider = page.getByRole("slider", { name: "Event that is shown" });
    expect(await slider.inputValue()).not.toBe(await slider.getAttribute("max"));
  });

  test("is followed while it goes on, also after a pause", async () => {
    const client = new Antiphon({ baseUrl: server.url, apiKey: server.apiKey });
    const { id } = await client.createResponse({
      model: "atlas-mini",
      input: "Please take your time.",
      background: true,
    });
    const page = await open(id);
    const items = page.getByRole("region", { name: "Items" });
    await items.getByText("One moment,").first().waitFor();
    await page.getByText("live", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Pause", exact: true }).click();
    await page.getByRole("button", { name: "Go to live" }).click();
    await items.getByText("One moment, here it is.").waitFor();
    await page.getByText("completed", { exact: true }).first().waitFor();
  });

  test("is paused and resumed while it goes on", async () => {
    const client = new Antiphon({ baseUrl: server.url, apiKey: server.apiKey });
    const request = { model: "atlas-mini", input: "Please take your time.", background: true };
    const { id } = await client.createResponse(request);
    const page = await open(id);
    await page.getByRole("button", { name: "Pause the response" }).click();
    await page.getByText("paused", { exact: true }).waitFor();
    expect((await client.getResponse(id)).pause).toMatchObject({ since: expect.any(Number) });
    await page.getByRole("button", { name: "Resume the response" }).click();
    await page.getByText("completed", { exact: true }).first().waitFor();
  });

  test("says what its tools did, what its chain is, and why it failed", async () => {
    const tools = await open(runs.weekend.id, "tools");
    const call = tools.getByRole("article", { name: "MCP weather · get_forecast" });
    await call.getByText("Ran without a question.").waitFor();
    await expect.poll(() => call.getByRole("group", { name: "Result" }).textContent()).toContain("rain until noon");
    const refund = await open(runs.refund.id, "tools");
    await refund.getByText("Waits for an approval.").waitFor();
    const chain = await open(runs.chained.id, "context");
    await expect.poll(() => chain.locator(".chain > li").count()).toBe(4);
    await chain
      .getByText(/^\d+ tokens of context, \d+ added$/)
      .last()
      .waitFor();
    const failed = await open(runs.failed);
    await failed.getByRole("alert").getByText("overloaded").waitFor();
  });

  test("shows a failed run with all of its events, its duration and the linter's verdict", async () => {
    verifies("inspection.page.failed-runs");
    const page = await open(runs.failed);
    await page.getByText("No rule broken").waitFor();
    const events = page.getByRole("listbox", { name: /^Events/ });
    await expect.poll(() => events.innerText()).toMatch(/\nerror\n[^]*\nfailed\n/);
    expect(await page.locator(".fact").filter({ hasText: "Duration" }).innerText()).toMatch(/\d m?s$/);
    await page.getByRole("tab", { name: "Linter" }).click();
    await page.getByText(/^\d+ events, no rule broken$/).waitFor();
  });

  test("shows what other servers were asked, without secrets, and forgets it on demand", async () => {
    const page = await open(runs.refund.id, "exchanges");
    const exchange = page.getByRole("region", { name: "Exchanges" }).locator("details.exchange").first();
    await exchange.locator("summary").first().click();
    await exchange.getByRole("group", { name: "Body of the request" }).waitFor();
    expect(await exchange.innerText()).toContain("POST http://127.0.0.1");
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "Delete what is kept" }).click();
    await page.getByText("No other server was asked for this run, or what was kept has expired.").waitFor();
  });

  test("shows when and where it waited and went on", async () => {
    verifies("state.notes.of-what-happened");
    const faulty = await serveBehind(failsOnce(), { NODE_NAME: "harbour" });
    const { final } = await readStream(await faulty.create({ background: true, stream: true }));
    const page = await openInspector(browser, { server: faulty.server, query: `?run=${final.id}&tab=exchanges` });
    const happened = page.getByRole("region", { name: "What happened" });
    await happened.getByText("It is asked again after").waitFor();
    expect(await happened.getByRole("listitem").allInnerTexts()).toEqual([
      expect.stringMatching(/^waited\s+model .* It is asked again after \d\.\d s\. .* \d{4}, .*, told by harbour$/s),
    ]);
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  test("is exported as code, scenario and linter input", async () => {
    const page = await open(runs.weekend.id);
    await page.getByRole("button", { name: "Export" }).click();
    const dialog = page.getByRole("dialog", { name: "Export this run" });
    const expected = {
      curl: "curl -sSN http://127.0.0.1",
      TypeScript: 'model: "atlas-large"',
      Python: 'model="atlas-large"',
      Scenario: 'call: {"name":"get_forecast"',
      "Linter input": '"type":"response.created"',
    };
    for (const [name, text] of Object.entries(expected)) {
      await dialog.getByRole("tab", { name }).click();
      await expect.poll(() => dialog.getByRole("region", { name }).textContent()).toContain(text);
    }
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  });

  test("stands beside another with their differences marked", async () => {
    const page = await openInspector(browser, {
      server,
      query: `?left=${runs.weekend.id}&right=${runs.shortWeekend.id}`,
    });
    const answer = page.getByRole("region", { name: "Answer of the left run" });
    await answer.locator("mark").first().waitFor();
    await expect.poll(() => answer.locator("mark").allTextContents()).toContain("lunch at the Feira da Ladra, ");
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  test.each([
    ["wide-light", { colorScheme: "light" }],
    ["wide-dark", { colorScheme: "dark" }],
    ["phone-light", { viewport: { width: 390, height: 844 }, colorScheme: "light" }],
    ["phone-dark", { viewport: { width: 390, height: 844 }, colorScheme: "dark" }],
  ] as const)("has no accessibility faults in any tab: %s", async (name, options) => {
    const page = await openInspector(browser, { server, query: `?run=${runs.weekend.id}` }, options);
    await page.getByText("No rule broken").waitFor();
    for (const tab of TABS) {
      await page.getByRole("tab", { name: tab }).click();
      await page.getByRole("tabpanel").locator("section, .empty").first().waitFor();
      expect({ tab, faults: await accessibilityFaults(page) }).toEqual({ tab, faults: [] });
      await keep(page, `inspector-${tab.toLowerCase()}-${name}`);
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    }
  });
});

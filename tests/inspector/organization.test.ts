import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CHROMIUM, startChromium } from "../chromium.ts";
import { accessibilityFaults } from "../local-stt/chat-lab-page.ts";
import { callWith, newKeyOf, resultsOf, servePriced } from "../organization/priced-server.ts";
import { verifies } from "../verifies.ts";
import { buildPages, openInspector } from "./inspector-page.ts";

let browser: Browser;

describe.skipIf(CHROMIUM === null)("the inspector of an operator", () => {
  beforeAll(async () => {
    buildPages();
    browser = await startChromium();
  });

  afterAll(() => browser?.close());

  test("shows what was used and what it cost, by key, project, model and day", async () => {
    verifies("inspector.usage.shown");
    const server = await servePriced();
    const { value } = await newKeyOf(server, { name: "nightly", projects: ["acme/web"] });
    for (const model of ["chat", "free"]) await callWith(server, value, "/v1/responses", { model, input: "Hi" });
    await expect.poll(() => resultsOf(server, "usage/completions", "&group_by=model")).toHaveLength(2);
    const page = await openInspector(browser, { server, query: "?page=usage" });
    const rowOf = async (name: string): Promise<string> =>
      (await page.getByRole("row", { name }).innerText()).replaceAll(/\s+/g, " ");
    await page.getByRole("rowheader", { name: "nightly" }).waitFor();
    expect(await rowOf("nightly")).toBe("nightly 2 20 8 10 $0.000064");
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByLabel("By").selectOption("model");
    expect(await rowOf("chat")).toBe("chat 1 10 4 5 $0.000064");
    expect(await rowOf("free")).toBe("free 1 10 4 5 –");
    await page.getByLabel("By").selectOption("project");
    await page.getByRole("rowheader", { name: "acme/web" }).waitFor();
    await page.getByLabel("By").selectOption("day");
    expect(await page.locator("tbody tr").count()).toBe(1);
    await page.getByLabel("Time").selectOption("30");
    await page.reload();
    expect(await page.getByLabel("Time").inputValue()).toBe("30");
  });

  test("makes a key, shows its text once, changes its budget and revokes it", async () => {
    verifies("inspector.keys.changed");
    const server = await servePriced();
    const page = await openInspector(browser, { server, query: "?page=keys" });
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel("Name").fill("ci");
    await page.getByLabel("Project").fill("acme/web");
    await page.getByLabel("Tokens").fill("15");
    await page.getByRole("button", { name: "Make the key" }).click();
    const value = await page.getByRole("dialog").locator("code").innerText();
    expect(value).toMatch(/^sk-antiphon-/);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "Close" }).click();
    const ask = async () => (await callWith(server, value, "/v1/responses", { model: "chat", input: "Hi" })).status;
    expect([await ask(), await ask()]).toEqual([200, 429]);
    await page.reload();
    await page.getByText("15 of 15 tokens a month").waitFor();
    expect(await page.content()).not.toContain(value);
    await page.getByRole("button", { name: "Change ci" }).click();
    await page.getByLabel("Name").fill("nightly");
    await page.getByLabel("Tokens").fill("30");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("15 of 30 tokens a month").waitFor();
    expect(await ask()).toBe(200);
    await page.getByRole("button", { name: "Revoke nightly" }).click();
    await page.getByRole("button", { name: "Revoke the key" }).click();
    await page.getByText("revoked").waitFor();
    expect(await ask()).toBe(401);
    await page.getByRole("button", { name: "Revoke first start" }).click();
    await page.getByRole("button", { name: "Revoke the key" }).click();
    await page.getByText("is the last operator's key").waitFor();
  });

  test.each(["?page=usage", "?page=keys"])("fits on a phone: %s", async (query) => {
    verifies("inspector.usage.shown");
    const server = await servePriced();
    await server.post("/v1/responses", { model: "chat", input: "Hi" });
    await expect.poll(() => resultsOf(server, "usage/completions")).toHaveLength(1);
    const page = await openInspector(browser, { server, query }, { viewport: { width: 390, height: 844 } });
    await page.getByRole("rowheader", { name: "first start" }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  });

  test("tells others that they may not see it", async () => {
    verifies("inspector.usage.operators-only");
    const server = await servePriced();
    const { value } = await newKeyOf(server);
    for (const query of ["?page=usage", "?page=keys"]) {
      const page = await openInspector(browser, { server: { url: server.url, apiKey: value }, query });
      await page.getByRole("alert").getByText("It needs an operator's key").waitFor();
    }
  });
});

import { readFile } from "node:fs/promises";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { batchThatIs, clientOf, lineFor, repeating, startBatch } from "../batches/batch-kit.ts";
import { CHROMIUM, startChromium } from "../chromium.ts";
import { serveModel } from "../crash/lives.ts";
import { startTestServer } from "../kit/test-server.ts";
import { accessibilityFaults } from "../local-stt/chat-lab-page.ts";
import { verifies } from "../verifies.ts";
import { accept, startReceiver } from "../webhooks/receiver.ts";
import { endpoint, startWebhookServer } from "../webhooks/webhook-server.ts";
import { buildPages, openInspector } from "./inspector-page.ts";

const PHONE = { viewport: { width: 390, height: 844 } };
const FITS = "document.documentElement.scrollWidth <= innerWidth";

let browser: Browser;

describe.skipIf(CHROMIUM === null)("the inspector of work in the background", () => {
  beforeAll(async () => {
    buildPages();
    browser = await startChromium();
  });

  afterAll(() => browser?.close());

  test("follows a batch, cancels it, and saves what it left", async () => {
    verifies("inspector.batches.shown");
    const model = await serveModel();
    const server = await startTestServer({ env: { MODEL_BASE_URL: model.url, BATCH_LINES_MAX: "1" } });
    const lines = ["one", "two"].map((id) => lineFor("/v1/responses", id, { model: "m", input: "wait" }));
    const { id } = await startBatch(clientOf(server), lines);
    await expect.poll(() => model.turns()).toBe(1);
    const page = await openInspector(browser, { server, query: "?page=batches" });
    const row = page.locator(`[data-batch="${id}"]`);
    await row.getByText("0 of 2").waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await row.getByRole("button", { name: `Cancel ${id}` }).click();
    await row.getByText("cancelling").waitFor();
    model.release();
    await row.getByText("cancelled").waitFor();
    expect(await row.getByText("1 of 2").count()).toBe(1);
    const saved = page.waitForEvent("download");
    await row.getByRole("button", { name: `Save errors of ${id}` }).click();
    const text = await readFile(await (await saved).path(), "utf8");
    expect(JSON.parse(text)).toMatchObject({ custom_id: "two", error: { code: "batch_cancelled" } });
    await row.getByRole("button", { name: `Save output of ${id}` }).waitFor();
  });

  test("shows which lines of a file were refused", async () => {
    verifies("inspector.batches.shown");
    const server = await startTestServer();
    const { id } = await startBatch(clientOf(server), [...repeating(1), "no JSON"]);
    await batchThatIs(clientOf(server), id, "failed");
    const page = await openInspector(browser, { server, query: "?page=batches" }, PHONE);
    await page.getByText(/^Line 2: /).waitFor();
    expect(await page.evaluate(FITS)).toBe(true);
  });

  test("makes an endpoint, shows its secret once, changes it and deletes it", async () => {
    verifies("inspector.webhooks.changed");
    const { server, client } = await startWebhookServer();
    const { url, arrivals } = await startReceiver();
    const page = await openInspector(browser, { server, query: "?page=webhooks" });
    await page.getByText("There are no endpoints.").waitFor();
    await page.getByRole("button", { name: "New endpoint" }).click();
    await page.getByLabel("Name").fill("answers");
    await page.getByLabel("URL").fill(url);
    await page.getByLabel("batch.failed").uncheck();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "Make the endpoint" }).click();
    const secret = await page.getByRole("dialog").locator("code").innerText();
    expect(secret).toMatch(/^whsec_/);
    await page.getByRole("button", { name: "Close" }).click();
    await page.getByRole("button", { name: "Test answers" }).click();
    await page.getByRole("status").getByText("204").waitFor();
    expect(arrivals).toHaveLength(1);
    await page.getByRole("button", { name: "Rotate the secret of answers" }).click();
    await page.getByRole("button", { name: "Rotate the secret", exact: true }).click();
    await page.getByText("It is shown this once.").waitFor();
    expect(await page.getByRole("dialog").locator("code").innerText()).not.toBe(secret);
    await page.getByRole("button", { name: "Close" }).click();
    await page.getByRole("button", { name: "Change answers" }).click();
    expect(await page.getByLabel("batch.failed").isChecked()).toBe(false);
    await page.getByLabel("Name").fill("ends");
    await page.getByLabel("is told").uncheck();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("disabled").waitFor();
    await page.getByRole("button", { name: "Delete ends" }).click();
    await page.getByRole("button", { name: "Delete the endpoint" }).click();
    await page.getByText("There are no endpoints.").waitFor();
    expect(await client.webhooks.list()).toMatchObject({ data: [] });
  });

  test("shows what was sent to an endpoint, and sends it again", async () => {
    verifies("inspector.webhooks.changed");
    const { server, client } = await startWebhookServer();
    const receiver = await startReceiver((response, index) =>
      index === 0 ? response.writeHead(500).end() : accept(response),
    );
    const { id } = await endpoint(client, receiver, "response.completed");
    const answer = await client.responses.create({ model: "antiphon-built-in", input: "Hi", background: true });
    await receiver.arrival(0);
    const page = await openInspector(browser, { server, query: `?page=webhooks&endpoint=${id}` });
    const deliveries = page.getByRole("region", { name: "Deliveries" });
    await expect
      .poll(async () => {
        await deliveries.getByRole("button", { name: "Look again" }).click();
        return deliveries.getByText(/^500, after/).count();
      })
      .toBe(1);
    expect(await accessibilityFaults(page)).toEqual([]);
    await deliveries.getByRole("button", { name: /^Send again/ }).click();
    expect((await receiver.arrival(1)).event.data.id).toBe(answer.id);
    await expect
      .poll(async () => {
        await deliveries.getByRole("button", { name: "Look again" }).click();
        return deliveries.getByText("delivered").count();
      })
      .toBe(1);
    await page.setViewportSize(PHONE.viewport);
    expect(await page.evaluate(FITS)).toBe(true);
    await deliveries.getByRole("link", { name: answer.id }).click();
    await page.locator(`[data-page="run"]`).waitFor();
    expect(new URL(page.url()).searchParams.get("run")).toBe(answer.id);
  });
});

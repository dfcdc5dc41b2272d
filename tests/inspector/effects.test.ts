import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CHROMIUM, startChromium } from "../chromium.ts";
import { startUnsureWorld } from "../inspection/unsure-world.ts";
import { accessibilityFaults } from "../local-stt/chat-lab-page.ts";
import { verifies } from "../verifies.ts";
import { buildPages, openInspector } from "./inspector-page.ts";

let browser: Browser;

describe.skipIf(CHROMIUM === null)("the ledger of a run", () => {
  beforeAll(async () => {
    buildPages();
    browser = await startChromium();
  });

  afterAll(() => browser?.close());

  test("stands beside its calls, and an unknown call is settled there", async () => {
    verifies("inspection.effects.list", "inspection.effects.settle");
    const { server, payUnknown } = await startUnsureWorld();
    const { id } = await payUnknown(3);
    const page = await openInspector(browser, { server, query: `?run=${id}` });
    const items = page.getByRole("region", { name: "Items" });
    const attempts = items.getByRole("article", { name: "MCP bank · pay" }).getByRole("region", { name: "Attempts" });
    await attempts.getByText("unknown", { exact: true }).waitFor();
    await attempts.getByText(/ on left, /).waitFor();
    expect(await items.getByRole("region", { name: "Attempts" }).count()).toBe(1);
    expect(await accessibilityFaults(page)).toEqual([]);
    await attempts.getByRole("button", { name: "It took effect" }).click();
    await attempts.getByText(/^It took effect, says /).waitFor();
    expect(await attempts.getByRole("button").count()).toBe(0);
    const reply = await server.fetch(`/v1/responses/${id}/effects`);
    expect(await reply.json()).toMatchObject({ data: [{ name: "pay", state: "done" }, { name: "look" }] });
  });
});

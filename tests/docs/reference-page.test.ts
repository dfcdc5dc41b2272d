import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CHROMIUM, startChromium } from "../chromium.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { accessibilityFaults, keep, openPage } from "../local-stt/chat-lab-page.ts";
import { type LocalSttServer, startLocalSttServer } from "../local-stt-server.ts";
import { isShort } from "../trials.ts";
import { verifies } from "../verifies.ts";

/** Redoc draws some hundred schemas. */
const PAGE_MS_MAX = 180_000;
/** Elements of what is shown first. The longest part has four times as many, and all parts together twelve times. */
const ELEMENTS_MAX = 2_500;
/** Of the renderer, to draw what is shown first. */
const FIRST_CPU_SECONDS_MAX = 1;

describe.skipIf(CHROMIUM === null)("the page at /docs", () => {
  let browser: Browser;
  let responses: TestServer;
  let speech: LocalSttServer;
  beforeAll(async () => {
    browser = await startChromium();
    [responses, speech] = await Promise.all([startTestServer(), startLocalSttServer()]);
  });
  afterAll(() => Promise.all([browser.close(), responses.close(), speech.close()]));

  /** `hash`: the place of the page, which is its beginning without one. */
  async function open(
    of: "responses" | "speech",
    colorScheme: "dark" | "light",
    { width = 1440, hash = "" }: { readonly width?: number; readonly hash?: string } = {},
  ): Promise<Page> {
    const { url } = of === "responses" ? responses : speech;
    const page = await openPage(browser, `${url}/docs${hash}`, { colorScheme, viewport: { width, height: 900 } });
    await page.locator("h1").first().waitFor({ timeout: PAGE_MS_MAX });
    return page;
  }

  const shown = [
    { of: "speech", scheme: "light", width: 1440, hash: "" },
    { of: "speech", scheme: "dark", width: 390, hash: "" },
    { of: "responses", scheme: "dark", width: 1440, hash: "#tag/responses" },
    { of: "responses", scheme: "dark", width: 390, hash: "" },
    { of: "responses", scheme: "light", width: 1440, hash: "" },
    // The long page takes several seconds each time.
    ...(isShort
      ? []
      : ([
          { of: "responses", scheme: "light", width: 1440, hash: "#tag/responses" },
          { of: "responses", scheme: "light", width: 390, hash: "#tag/responses" },
        ] as const)),
  ] as const;

  test.each(shown)(
    "of $of in $scheme, $width wide, $hash, has no faults of accessibility",
    async ({ of, scheme, width, hash }) => {
      const page = await open(of, scheme, { width, hash });
      if (hash !== "") await page.locator('[id="tag/responses/operation/createResponse"]').waitFor();
      await keep(page, `docs-${of}-${scheme}-${width}${hash === "" ? "" : "-part"}`);
      expect(await accessibilityFaults(page)).toEqual([]);
    },
    PAGE_MS_MAX,
  );

  test(
    "says on its first screen what the API is, where it is, and how to call it",
    async () => {
      const page = await open("responses", "light");
      for (const words of [
        "send messages to a model",
        `${responses.url}/v1`,
        "Authorization: Bearer",
        "data/api-key",
      ]) {
        const place = await page.getByText(words).first().boundingBox();
        expect(place?.y, words).toBeLessThan(900);
      }
    },
    PAGE_MS_MAX,
  );

  test(
    "has samples in curl, TypeScript and Python beside an operation",
    async () => {
      const page = await open("responses", "light");
      await page.getByRole("link", { name: "POST /v1/responses" }).first().click();
      const samples = page.locator('[id="tag/responses/operation/createResponse"]');
      for (const [language, words] of [
        ["curl", "curl "],
        ["TypeScript", "await client.responses.create"],
        ["Python", "from openai import OpenAI"],
      ] as const) {
        await samples.getByRole("tab", { name: language, exact: true }).click();
        await samples.getByText(words).first().waitFor();
      }
    },
    PAGE_MS_MAX,
  );

  test(
    "draws one part of a long interface at a time, and a reply when it is opened",
    async () => {
      verifies("docs.reference.parts");
      const page = await open("responses", "light");
      expect(await page.locator("*").count()).toBeLessThan(ELEMENTS_MAX);
      const parts = page.getByRole("navigation", { name: "Parts" });
      expect(await parts.locator("[aria-current]").innerText()).toBe("overview");
      expect(await page.locator('[id^="tag/models"]').count()).toBe(0);
      await page.getByRole("link", { name: "GET /v1/models" }).first().click();
      const operation = page.locator('[id="tag/models/operation/listModels"]');
      await operation.getByRole("button", { name: /^200/ }).click();
      await operation.getByRole("button", { name: "expand data" }).click();
      await operation.locator(".property-name").getByText("owned_by").waitFor();
      expect(await parts.locator("[aria-current]").innerText()).toBe("models");
      await parts.getByRole("link", { name: "files", exact: true }).click();
      await page.locator('[id="tag/files/operation/createFile"]').waitFor();
      expect(await operation.count()).toBe(0);
    },
    PAGE_MS_MAX,
  );

  test(
    "opens at once, with a list of all operations in which one finds any",
    async () => {
      verifies("docs.reference.opens-at-once");
      const page = await browser.newPage();
      const devTools = await page.context().newCDPSession(page);
      await devTools.send("Performance.enable", { timeDomain: "threadTicks" });
      await page.goto(`${responses.url}/docs`);
      await page.locator("h1").first().waitFor({ timeout: PAGE_MS_MAX });
      const { metrics } = await devTools.send("Performance.getMetrics");
      expect(metrics.find(({ name }) => name === "TaskDuration")?.value).toBeLessThan(FIRST_CPU_SECONDS_MAX);

      const operations = page.getByRole("complementary", { name: "Operations" });
      expect(await operations.getByRole("listitem").count()).toBeGreaterThan(80);
      await operations.getByLabel("Find").fill("delete vector");
      await expect.poll(() => operations.getByRole("listitem").count()).toBe(2);
      await operations.getByRole("link", { name: "DELETE /v1/vector_stores/{vector_store_id}", exact: true }).click();
      await page.locator('[id$="/operation/deleteVectorStore"]').waitFor();
      expect(await operations.count()).toBe(0);
      await page.getByRole("navigation", { name: "Parts" }).getByRole("link", { name: "overview" }).click();
      await operations.getByLabel("Find").waitFor();
      await page.close();
    },
    PAGE_MS_MAX,
  );

  test(
    "turns dark and light, and stays so",
    async () => {
      const page = await open("speech", "light");
      await page.getByRole("button", { name: "Dark" }).click();
      await page.reload();
      await page.getByRole("button", { name: "Light" }).click();
      expect(await page.evaluate("document.documentElement.dataset.scheme")).toBe("light");
    },
    PAGE_MS_MAX,
  );
});

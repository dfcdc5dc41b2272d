import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { wavFile } from "../../src/audio-formats/encoded-sound.fixture.ts";
import { lastChunk, serveChat, sse, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { sound } from "../speech/tones.ts";
import { verifies } from "../verifies.ts";
import { program, startToneServer } from "./tone-server.ts";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const CHROMIUM =
  [process.env["CHROMIUM_PATH"] ?? "", ...PLACES].find((path) => path !== "" && existsSync(path)) ?? null;
if (CHROMIUM === null)
  console.warn("Tests of the chat lab are left out: there is no Chromium. CHROMIUM_PATH names one.");

const SCREENSHOTS = join(import.meta.dirname, "../../.cache/screenshots");
const folder = await mkdtemp(join(tmpdir(), "antiphon-lab-"));
const SPOKEN = join(folder, "spoken.wav");
const UPLOADED = join(folder, "uploaded.wav");
await writeFile(SPOKEN, wavFile(sound(700, "three", 300, "one", 300, "four", 60_000), 16_000));
await writeFile(UPLOADED, wavFile(sound(300, "nine", 300, "five", 300), 16_000));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A browser whose microphone hears the spoken words, once. */
async function openBrowser(): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: CHROMIUM ?? "",
    args: [
      "--no-sandbox",
      "--use-fake-ui-for-media-stream",
      "--use-fake-device-for-media-stream",
      `--use-file-for-fake-audio-capture=${SPOKEN}%noloop`,
    ],
  });
  onTestFinished(() => browser.close());
  return browser;
}

async function openPage(url: string): Promise<{ readonly page: Page; readonly faults: string[] }> {
  const browser = await openBrowser();
  const page = await browser.newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" && !/Failed to load resource|WebSocket connection/.test(message.text()))
      faults.push(message.text());
  });
  await page.goto(`${url}/demo`);
  return { page, faults };
}

async function keep(page: Page, name: string): Promise<void> {
  await mkdir(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
}

/** Formats by a capital and a full stop, and chats by repeating. */
function serveProvider() {
  return serveChat((response, { body }) => {
    const messages: readonly { readonly content: string }[] = JSON.parse(body).messages;
    const last = messages.at(-1)?.content ?? "";
    const text = /^<(text-\w+)>\n([\s\S]*)\n<\/\1>$/.exec(last)?.[2];
    const said = text === undefined ? `You said: ${last}` : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(sse(...(said.match(/.{1,4}/gs) ?? []).map(textChunk), lastChunk("stop"), "[DONE]"));
  });
}

describe.skipIf(program === null || CHROMIUM === null)("the chat lab", { timeout: 90_000 }, () => {
  test("hears the microphone, formats what it heard, and chats", async () => {
    verifies("stt.demo.page");
    const provider = await serveProvider();
    const env = { FORMATTER_BASE_URL: `${provider.origin}/v1`, FORMATTER_API_KEY: "any", FORMATTER_MODEL: "small" };
    const { url } = await startToneServer({ env });
    const { page, faults } = await openPage(url);
    await expect.poll(() => page.locator("#state").textContent(), { timeout: 15_000 }).toContain("Ready");
    await page.getByRole("button", { name: "Start the microphone" }).click();
    await expect.poll(() => page.locator("#partial").textContent(), { timeout: 30_000 }).toBe("three one four");
    await keep(page, "while-speaking");
    await page.getByRole("button", { name: "Stop the microphone" }).click();
    await expect
      .poll(() => page.getByLabel("As it was heard").inputValue(), { timeout: 15_000 })
      .toBe("three one four");
    await page.getByRole("button", { name: "Format" }).click();
    await expect.poll(() => page.getByLabel("Formatted", { exact: true }).inputValue()).toBe("Three one four.");
    await page.getByRole("button", { name: "Take the text" }).click();
    await page.getByRole("button", { name: "Send" }).click();
    await expect
      .poll(() => page.getByLabel("The chat so far").textContent())
      .toContain("Answer: You said: Three one four.");
    await keep(page, "after-chatting");
    expect(faults).toEqual([]);
  });

  test("takes recordings, is used by keys alone, and survives a restart of the server", async () => {
    verifies("stt.demo.page");
    const first = await startToneServer();
    const { page, faults } = await openPage(first.url);
    await expect.poll(() => page.locator("#file").isEnabled(), { timeout: 15_000 }).toBe(true);
    await page.locator("#file").setInputFiles(UPLOADED);
    await expect.poll(() => page.getByLabel("As it was heard").inputValue(), { timeout: 15_000 }).toBe("nine five");
    await page.keyboard.down("F2");
    await expect.poll(() => page.locator("#partial").textContent(), { timeout: 30_000 }).toBe("three one four");
    await first.close();
    await expect.poll(() => page.getByRole("alert").textContent(), { timeout: 15_000 }).not.toBe("");
    await page.keyboard.up("F2");
    expect(await page.getByLabel("As it was heard").inputValue()).toBe("nine five three one four");
    await expect
      .poll(() => page.locator("#state").textContent(), { timeout: 15_000 })
      .toBe("The server does not answer.");
    await startToneServer({ env: { STT_PORT: new URL(first.url).port } });
    await expect.poll(() => page.locator("#state").textContent(), { timeout: 15_000 }).toContain("Ready");
    await page.locator("#file").setInputFiles(UPLOADED);
    await expect
      .poll(() => page.getByLabel("As it was heard").inputValue(), { timeout: 15_000 })
      .toContain("four nine five");
    expect(faults).toEqual([]);
  });

  test("names every control, and shows what went wrong", async () => {
    const { url } = await startToneServer();
    const { page } = await openPage(url);
    for (const control of await page.locator("button, input, textarea, meter, progress").all()) {
      const name = await control.evaluate(
        (node: HTMLInputElement) =>
          (node.labels?.[0]?.textContent ?? "") + (node.textContent ?? "") + (node.ariaLabel ?? ""),
      );
      expect(name.trim()).not.toBe("");
    }
    await page.getByLabel("Message").fill("hello");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.getByRole("alert").textContent()).toContain("No provider is set up");
    expect((await page.request.get(url)).headers()).toMatchObject({
      "content-security-policy": expect.stringContaining("frame-ancestors 'none'"),
      "x-content-type-options": "nosniff",
    });
  });
});

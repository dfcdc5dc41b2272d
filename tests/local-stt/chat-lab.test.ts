import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import { silentLogger } from "@antiphon/base/logger.ts";
import { encoded, HAS_FFMPEG, wavFile } from "@antiphon/speech/audio-formats/encoded-sound.fixture.ts";
import { type EngineStatus, type SpeechEngine, SpeechError } from "@antiphon/speech/recognition/speech-engine.ts";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { ToneWord } from "../../scripts/fixture-model/tone-words.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { lastChunk, sse, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { hearingWith } from "../../src/servers/choices/choose-speech.ts";
import { startLocalStt } from "../../src/servers/local-stt.ts";
import { serveWrittenChat, serveWrittenModel } from "../chat/reloaded-model.ts";
import { CHROMIUM, startChromium } from "../chromium.ts";
import { startChildServer } from "../kit/child-server.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { type LocalSttServer, startLocalSttServer } from "../local-stt-server.ts";
import { sound } from "../speech/tones.ts";
import { verifies } from "../verifies.ts";
import { accessibilityFaults, changesOf, drop, keep, openPage } from "./chat-lab-page.ts";
import { openToneServer, program, toneSettings } from "./tone-server.ts";

if (CHROMIUM === null)
  console.warn("Tests of the chat lab are left out: there is no Chromium. CHROMIUM_PATH names one.");

const SCENARIO = `
scenarios:
  - when: { input_contains: again }
    events:
      - text: And that again.
  - when: { input_contains: three }
    events:
      - text: These are the first digits of a well known number.
`;

let folder: string;
let browser: Browser;
let provider: Server;
let speech: LocalSttServer;
let responses: TestServer;

describe.skipIf(program === null || CHROMIUM === null)("the chat lab", () => {
  beforeAll(async () => {
    execFileSync("make", ["--silent", "--old-file=node_modules/.package-lock.json", "page"]);
    folder = await mkdtemp(join(tmpdir(), "antiphon-lab-"));
    await writeFile(join(folder, "spoken.wav"), wavFile(sound(700, "three", 300, "one", 300, "four", 60_000), 16_000));
    provider = await serveProvider();
    [browser, speech, responses] = await Promise.all([
      openBrowser(),
      openToneServer({ env: formatterEnv() }),
      startTestServer({ scenario: SCENARIO }),
    ]);
  });

  afterAll(async () => {
    await Promise.all([browser?.close(), speech?.close(), responses?.close()]);
    provider?.closeAllConnections();
    provider?.close();
    await rm(folder, { recursive: true, force: true });
  });

  test("shows the transcript of the microphone, formats it, chats, and uses the Responses API", async () => {
    verifies(
      "stt.demo.page",
      "stt.demo.page-sends-to-the-responses-api",
      "stt.demo.page-dictates-into-one-field",
      "transport.cors.listed-pages-only",
    );
    const page = await openPage(browser, speech.url);
    await isReady(page);
    await page.getByLabel("Format when I stop talking").check();
    const levels = await changesOf(page, "#level", "value");
    await page.getByRole("button", { name: "Talk" }).click();
    await heard(page, "three one four"); // While the microphone is still open.
    expect(await page.getByRole("timer").textContent()).toMatch(/^0:\d\d$/);
    expect(await page.getByRole("timer").textContent()).not.toBe("0:00");
    expect(Math.max(...levels.map(Number))).toBeGreaterThan(0.5); // The tones have a fifth of the full loudness.
    await keep(page, "listening-wide-light");
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await heard(page, "Three one four\\.");

    const chat = page.getByRole("region", { name: "Chat" });
    await chat.getByRole("button", { name: "Insert transcript" }).click();
    await chat.getByRole("button", { name: "Send" }).click();
    await expect.poll(() => chat.getByRole("log").textContent()).toContain("AnswerYou said: Three one four.");

    await askResponsesApi(page);
    await keep(page, "answered-wide-light");
  });

  test("can be used with the keyboard alone", async () => {
    verifies("stt.demo.page-by-keys-alone");
    const page = await openPage(browser, speech.url, { colorScheme: "dark" });
    await isReady(page);
    await page.keyboard.press("Tab");
    expect(await focused(page)).toBe("Talk");
    await page.keyboard.down("Space");
    await heard(page, "three one four");
    await keep(page, "listening-wide-dark");
    await page.keyboard.up("Space");
    await expect.poll(() => page.locator("#dictating").isHidden()).toBe(true);
    await heard(page, "three one four");

    await tabTo(page, "Transcript");
    await page.keyboard.press("Control+Enter");
    await heard(page, "Three one four\\.");
    await tabTo(page, "Undo");
    await page.keyboard.press("Enter");
    await heard(page, "three one four");
    await tabTo(page, "Message");
    await page.keyboard.type("hello");
    await page.keyboard.press("Enter");
    await expect
      .poll(() => page.getByRole("region", { name: "Chat" }).getByRole("log").textContent())
      .toContain("You said: hello");

    await page.keyboard.press("F2");
    await expect.poll(() => page.locator("#talk-label").textContent()).toBe("Stop");
    await page.keyboard.press("Escape");
    await expect.poll(() => page.locator("#talk-label").textContent()).toBe("Talk");
    await tabTo(page, "Keyboard shortcuts");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.getByText("wherever you are on the page").isVisible()).toBe(true);
  });

  test("accepts speech as soon as the server is ready, even while /version is slow", async () => {
    const page = await browser.newPage();
    await page.route("**/version", () => {}); // Never answered.
    await page.goto(speech.url);
    await isReady(page);
    expect(await page.getByRole("button", { name: "Talk" }).isEnabled()).toBe(true);
    await page.close();
  });

  test.skipIf(!HAS_FFMPEG)("transcribes dropped recordings of all five formats, one after the other", async () => {
    verifies("stt.demo.page-takes-dropped-files");
    const page = await openPage(browser, speech.url);
    await isReady(page);
    await drop(page, recordings());
    const texts = async (): Promise<Record<string, string>> => {
      const items = await page.locator("#recordings-list li").all();
      return Object.fromEntries(
        await Promise.all(
          items.map(async (item) => [await item.getByRole("heading").textContent(), await textOf(item)] as const),
        ),
      );
    };
    const each = { "a.wav": "one", "b.mp3": "two", "c.m4a": "three", "d.flac": "four", "e.webm": "five" };
    await expect.poll(texts, { timeout: 30_000 }).toEqual(each);
    await keep(page, "recordings-wide-light");
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "Add to transcript from c.m4a" }).click();
    await page.getByRole("button", { name: "Add to transcript from a.wav" }).click();
    await heard(page, "three one");
    await page.getByRole("button", { name: "Remove b.mp3" }).click();
    await page.reload();
    await expect.poll(async () => Object.keys(await texts())).toEqual(["a.wav", "c.m4a", "d.flac", "e.webm"]);
    await isReady(page);
    await drop(page, { "noise.txt": Buffer.from("certainly no sound") });
    await expect.poll(() => page.locator("#speak-trouble").textContent()).toContain("noise.txt: Unsupported format");
    await page
      .getByLabel("Drop recordings anywhere, or choose them")
      .setInputFiles({ name: "z.wav", mimeType: "audio/wav", buffer: Buffer.from(recordings()["a.wav"] ?? []) });
    await expect.poll(texts, { timeout: 30_000 }).toMatchObject({ "noise.txt": "", "z.wav": "one" });
  });

  test("keeps every word if the server is killed and restarted while somebody speaks", async () => {
    verifies("stt.demo.page-survives-a-restart");
    const env = await toneSettings();
    const first = await startChildServer({ env });
    const greeting = /Speech to text +(http:\S+)\n/;
    await expect.poll(() => first.said()).toMatch(greeting);
    const url = greeting.exec(first.said())?.[1] ?? "";
    const page = await openPage(browser, url, { viewport: { width: 390, height: 844 }, colorScheme: "dark" });
    await isReady(page);
    const levels = await changesOf(page, "#level", "value");
    await page.getByLabel("Transcript").fill("nine");
    await page.keyboard.down("F2");
    await heard(page, /^nine three/);
    await first.kill();
    await expect.poll(() => page.locator("#state").textContent()).toBe("The server does not answer");
    await expect.poll(() => page.locator("#connection").textContent()).toContain("What you say is kept");
    await keep(page, "server-away-phone-dark");
    await expect.poll(() => tonesIn(levels)).toBe(3); // All words were spoken, most of them without a server.
    await page.keyboard.up("F2");
    await startChildServer({ env: { ...env, STT_PORT: new URL(url).port } });
    await heard(page, "nine three one four");
    await isReady(page);
    expect(await page.locator("#connection").textContent()).toBe("");
    await page.getByRole("button", { name: "Talk" }).click(); // And it works as before.
    await heard(page, /^nine three one four three/);
    await page.keyboard.press("Escape");
    await heard(page, /^nine three one four three/);
  });

  test("explains a Responses API that it cannot reach or use", async () => {
    verifies("stt.demo.page-is-confined");
    const page = await openPage(browser, speech.url);
    const panel = page.getByRole("region", { name: "Responses API" });
    const ask = async (url: string): Promise<void> => {
      await panel.getByLabel("Base URL").fill(url);
      await panel.getByLabel("Key").fill("sk-wrong");
      await panel.getByLabel("Model").fill("m");
      await panel.getByLabel("Input").fill("three");
      await panel.getByRole("button", { name: "Send" }).click();
    };
    const trouble = panel.getByRole("alert");
    await ask("http://127.0.0.1:9/v1");
    await expect.poll(() => trouble.textContent()).toContain("http://127.0.0.1:9 does not answer this page.");
    expect(await panel.getByLabel("Input").inputValue()).toBe("three");
    await ask("https://api.example.com/v1");
    await expect.poll(() => trouble.textContent()).toContain("may not send to https://api.example.com.");
    await ask(`${responses.url}/v1`);
    await expect.poll(() => trouble.textContent()).toContain("Incorrect API key");
  });

  test("accepts or discards what was dictated, undoes each change, and copies the text", async () => {
    verifies("stt.demo.page-dictates-into-one-field");
    const page = await openPage(browser, speech.url, {
      permissions: ["microphone", "clipboard-read", "clipboard-write"],
    });
    await isReady(page);
    const field = page.getByLabel("Transcript", { exact: true });
    await field.fill("nine");
    await page.getByRole("button", { name: "Talk" }).click();
    await heard(page, /^nine three/);
    expect(await field.isEditable()).toBe(false);
    await page.getByRole("button", { name: "Discard" }).click();
    await expect.poll(() => page.locator("#dictating").isHidden()).toBe(true);
    await heard(page, "nine");
    await page.getByRole("button", { name: "Talk" }).click();
    await heard(page, /^nine three one four/);
    await page.getByRole("button", { name: "Accept" }).click();
    await expect.poll(() => page.locator("#dictating").isHidden()).toBe(true);
    await heard(page, "nine three one four");
    await page.getByRole("button", { name: "Copy", exact: true }).click();
    await expect.poll(() => page.locator("#format-note").textContent()).toBe("Copied.");
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("nine three one four");
    await page.getByRole("button", { name: "Clear" }).click();
    await heard(page, "");
    const undo = page.getByRole("button", { name: "Undo" });
    for (const before of ["nine three one four", "nine", ""]) {
      await undo.click();
      await heard(page, before);
    }
    expect(await undo.isDisabled()).toBe(true);
  });

  test("loses nothing at a reload, and takes up an answer of this machine's Responses API", async () => {
    verifies("stt.demo.page-keeps-all-at-reload", "stt.demo.key-for-own-page-only");
    const { server, call } = await serveWrittenModel();
    const env = { DATA_DIR: server.dataDir, PORT: new URL(server.url).port, ...formatterEnv() };
    const local = await openToneServer({ env });
    onTestFinished(() => local.close());
    const page = await openPage(browser, local.url);
    await isReady(page);
    await page.getByLabel("Style").fill("as a list");
    await page.getByLabel("Follow instructions in the text").check();
    const chat = page.getByRole("region", { name: "Chat" });
    await chat.getByLabel("Message").fill("hello");
    await page.keyboard.press("Enter");
    await expect.poll(() => chat.getByRole("log").textContent()).toContain("You said: hello");
    await chat.getByLabel("Message").fill("half a thou");

    const panel = page.getByRole("region", { name: "Responses API" });
    await expect.poll(() => panel.getByLabel("Key").getAttribute("placeholder")).toBe("this machine’s key");
    await expect.poll(() => panel.getByLabel("Model").inputValue()).toBe("m");
    await panel.getByLabel("Input").fill("count");
    await page.keyboard.press("Enter");
    const model = await call(0);
    model.say("One, ");
    await expect.poll(() => panel.getByRole("log").textContent()).toContain("One, ");
    await page.getByRole("button", { name: "Talk" }).click();
    await heard(page, "three one four");
    await page.reload();

    await heard(page, "three one four");
    await expect.poll(() => chat.getByRole("log").textContent()).toContain("You said: hello");
    expect(await chat.getByLabel("Message").inputValue()).toBe("half a thou");
    expect(await page.getByLabel("Style").inputValue()).toBe("as a list");
    expect(await page.getByLabel("Follow instructions in the text").isChecked()).toBe(true);
    await expect.poll(() => panel.getByRole("log").textContent()).toContain("One, ");
    model.say("two.");
    model.finish("stop");
    await expect.poll(() => panel.getByRole("log").textContent()).toBe("YoucountAnswerOne, two.Copy");
    await expect.poll(() => panel.locator("#responses-note").textContent()).toContain("Answered by m");
    await keep(page, "reloaded-wide-light");
    expect(await accessibilityFaults(page)).toEqual([]);
  });

  test("takes up an answer of the chat after a reload, and stops one for good", async () => {
    verifies("stt.demo.page-keeps-all-at-reload", "stt.demo.named-answer-survives");
    const model = await serveWrittenChat();
    const env = { FORMATTER_BASE_URL: `${model.origin}/v1`, FORMATTER_API_KEY: "any", FORMATTER_MODEL: "m" };
    const local = await startLocalSttServer({ env });
    onTestFinished(() => local.close());
    const page = await openPage(browser, local.url);
    const chat = page.getByRole("region", { name: "Chat" });
    const log = () => chat.getByRole("log").textContent();
    await chat.getByLabel("Message").fill("count");
    await page.keyboard.press("Enter");
    const first = await model.call(0);
    first.say("One, ");
    await expect.poll(log).toContain("One, ");
    await page.reload();
    await expect.poll(log).toContain("One, ");
    first.say("two.");
    await page.reload();
    await expect.poll(log).toContain("One, two.");
    first.finish("stop");
    await expect.poll(() => chat.locator("#chat-note").textContent()).toBe("Answered by m.");
    expect(await log()).toBe("YoucountAnswerOne, two.Copy");

    await chat.getByLabel("Message").fill("again");
    await page.keyboard.press("Enter");
    const second = await model.call(1);
    second.say("Three, ");
    await expect.poll(log).toContain("Three, ");
    await chat.getByRole("button", { name: "Stop" }).click();
    await second.closed;
    await expect.poll(() => chat.locator("#chat-note").textContent()).toBe("Stopped.");
    await page.reload();
    await expect.poll(log).toBe("YoucountAnswerOne, two.CopyYouagainAnswerThree, Copy");
    expect(model.count()).toBe(2);
  });

  test("has no violation that axe-core finds, in light and dark, wide and narrow", async () => {
    verifies("stt.demo.page-by-keys-alone");
    const page = await openPage(browser, speech.url);
    await isReady(page);
    await page.getByText("Keyboard shortcuts", { exact: true }).click();
    for (const colorScheme of ["light", "dark"] as const)
      for (const [size, width] of Object.entries({ wide: 1280, phone: 390 })) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 850 });
        expect([colorScheme, size, await accessibilityFaults(page)]).toEqual([colorScheme, size, []]);
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
        await keep(page, `quiet-${size}-${colorScheme}`);
      }
  });

  test("distinguishes empty text from a missing provider, and calls the provider once", async () => {
    verifies("stt.format.empty-text-is-told", "stt.demo.no-provider-is-not-retried", "stt.demo.page-explains-its-chat");
    const config = loadConfig({ STT_PORT: "0", FIND_LOCAL_DAEMON: "false", DRAIN_MS: "100" }, []);
    const engine = engineOf(() => ({ state: "ready" }));
    const server = await startLocalStt(config, silentLogger, hearingWith(engine, config));
    onTestFinished(() => server.close());
    const page = await openPage(browser, server.url);
    await isReady(page);
    const note = page.locator("#format-note");
    await page.getByRole("button", { name: "Format", exact: true }).click();
    await expect.poll(() => note.textContent()).toBe("There is no text to format.");
    await page.locator("#raw").fill("hello there");
    await page.getByRole("button", { name: "Format", exact: true }).click();
    await expect.poll(() => note.textContent()).toBe("Not formatted: no provider is set up, or formatting is off.");

    const asked: string[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("/demo/chat")) asked.push(request.url());
    });
    expect(await page.locator("#chat-setup").textContent()).toContain("No model is set up for this chat.");
    await keep(page, "chat-not-set-up-wide-light");
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.locator("#chat-text").fill("hello");
    await page.locator("#chat-send").click();
    await expect.poll(() => page.locator("#chat-trouble").textContent()).toContain("No provider is set up");
    expect(asked).toHaveLength(1);
  });

  test("shows the download of the model, and disables talking until it is done", async () => {
    verifies("stt.demo.page-shows-the-download");
    let status: EngineStatus = { state: "downloading", receivedBytes: 37_000_000, totalBytes: 148_000_000 };
    const config = loadConfig({ STT_PORT: "0", FIND_LOCAL_DAEMON: "false", DRAIN_MS: "100" }, []);
    const server = await startLocalStt(
      config,
      silentLogger,
      hearingWith(
        engineOf(() => status),
        config,
      ),
    );
    onTestFinished(() => server.close());
    const page = await openPage(browser, server.url);
    const bar = page.getByRole("progressbar", { name: "Download of the speech model" });
    await expect.poll(() => bar.getAttribute("value")).toBe("37000000");
    expect(await bar.getAttribute("max")).toBe("148000000");
    expect(await page.locator("#status").textContent()).toMatch(/being downloaded[\s\S]*37 of 148 MB/);
    expect(await page.getByRole("button", { name: "Talk" }).isDisabled()).toBe(true);
    await keep(page, "downloading-wide-light");
    status = { state: "failed", reason: "The model cannot be read" };
    await expect.poll(() => page.locator("#status").textContent()).toMatch(/not available[\s\S]*cannot be read/);
    status = { state: "demo", words: 69, reason: "The model cannot be downloaded" };
    await expect
      .poll(() => page.locator("#status").textContent())
      .toMatch(/Demo model[\s\S]*69 words of a synthetic voice/);
    expect(await page.getByRole("button", { name: "Talk" }).isEnabled()).toBe(true);
    const colour = await page.locator("#status .dot").evaluate((dot) => getComputedStyle(dot).backgroundColor);
    expect(colour).toBe(AMBER);
    status = { state: "ready" };
    await isReady(page);
    expect([await bar.isVisible(), await page.getByRole("button", { name: "Talk" }).isEnabled()]).toEqual([
      false,
      true,
    ]);
  });
});

/** `--warn` of the light theme. */
const AMBER = "rgb(138, 90, 0)";

function openBrowser(): Promise<Browser> {
  return startChromium({ hears: join(folder, "spoken.wav") });
}

async function isReady(page: Page): Promise<void> {
  await expect.poll(() => page.locator("#state").textContent(), { timeout: 30_000 }).toBe("Ready");
}

async function heard(page: Page, text: string | RegExp): Promise<void> {
  await expect
    .poll(() => page.getByLabel("Transcript", { exact: true }).inputValue(), { timeout: 30_000 })
    .toMatch(typeof text === "string" ? new RegExp(`^${text}$`) : text);
}

/** The text of a recording in the list; empty if it has none. */
async function textOf(item: Locator): Promise<string> {
  const text = item.locator(".said");
  return (await text.count()) === 0 ? "" : ((await text.textContent()) ?? "");
}

/** The number of finished tones that the meter has shown. */
function tonesIn(levels: readonly string[]): number {
  const isLoud = levels.map((level) => Number(level) > 0.3);
  return isLoud.filter((loud, place) => !loud && isLoud[place - 1] === true).length;
}

/** Asks twice, so that the second question continues the first answer. */
async function askResponsesApi(page: Page): Promise<void> {
  const panel = page.getByRole("region", { name: "Responses API" });
  const answers = await changesOf(page, "#responses-log");
  await panel.getByLabel("Base URL").fill(`${responses.url}/v1`);
  await panel.getByLabel("Key").fill(responses.apiKey);
  await panel.getByLabel("Key").blur();
  await expect.poll(() => panel.getByLabel("Model").inputValue()).toBe("antiphon-built-in");
  await panel.getByRole("button", { name: "Insert transcript" }).click();
  await panel.getByRole("button", { name: "Send" }).click();
  await expect
    .poll(() => panel.getByRole("log").textContent())
    .toContain("AnswerThese are the first digits of a well known number.");
  expect(answers.filter((text) => /AnswerThese/.test(text)).length).toBeGreaterThan(2); // It arrived in pieces.
  await panel.getByLabel("Input").fill("again");
  await page.keyboard.press("Enter");
  await expect.poll(() => panel.getByRole("log").textContent()).toContain("And that again.");
}

/** The name of the focused element, which must be visible. */
async function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const element = document.activeElement;
    if (!(element instanceof HTMLElement)) return "";
    const isSeen = getComputedStyle(element).outlineStyle !== "none";
    const label = "labels" in element && element.labels instanceof NodeList ? element.labels[0]?.textContent : null;
    const name = element.ariaLabel ?? label ?? element.textContent ?? "";
    return isSeen ? name.trim() : `${name.trim()} (without a mark)`;
  });
}

async function tabTo(page: Page, name: string): Promise<void> {
  for (let steps = 0; steps < 60; steps += 1) {
    await page.keyboard.press("Tab");
    if ((await focused(page)) === name) return;
  }
  throw new Error(`The focus never came to ${name}.`);
}

function formatterEnv(): Record<string, string> {
  const address = provider.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  return {
    FORMATTER_BASE_URL: `http://127.0.0.1:${port}/v1`,
    FORMATTER_API_KEY: "any",
    FORMATTER_MODEL: "small",
  };
}

/** Formats with a capital letter and a full stop, and chats by repeating. */
async function serveProvider(): Promise<Server> {
  const server = createServer((request, response) => {
    void readText(request).then((body) => {
      const messages: readonly { readonly content: string }[] = JSON.parse(body).messages;
      const last = messages.at(-1)?.content ?? "";
      const text = /^<(text-\w+)>\n([\s\S]*)\n<\/\1>$/.exec(last)?.[2];
      const said = text === undefined ? `You said: ${last}` : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(sse(...(said.match(/.{1,4}/gs) ?? []).map(textChunk), lastChunk("stop"), "[DONE]"));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

/** One word in each format. */
function recordings(): Record<string, Uint8Array> {
  const wav = (word: ToneWord): Buffer => wavFile(sound(300, word, 300), 16_000);
  return {
    "a.wav": wav("one"),
    "b.mp3": encoded(wav("two"), "-f", "mp3"),
    "c.m4a": encoded(wav("three"), "-movflags", "frag_keyframe+empty_moov", "-f", "mp4"),
    "d.flac": encoded(wav("four"), "-f", "flac"),
    "e.webm": encoded(wav("five"), "-c:a", "libopus", "-f", "webm"),
  };
}

/** An engine that reports the state set by the test. */
function engineOf(status: () => EngineStatus): SpeechEngine {
  const refusal = new SpeechError("loading", "The speech model is being downloaded");
  return {
    name: "an engine that is not ready",
    status,
    watch: () => () => {},
    facts: () => ({ engine: "none", engineVersion: null, model: "base.en", modelPath: null, modelSha256: null }),
    restarts: () => 0,
    knowsLanguage: () => true,
    canTranslate: () => true,
    refusal: () => refusal,
    transcribe: () => Promise.reject(refusal),
  };
}

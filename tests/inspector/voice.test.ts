import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { wavFile } from "@antiphon/speech/audio-formats/encoded-sound.fixture.ts";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startDemoServer } from "../../scripts/demo/demo-server.ts";
import { CHROMIUM, startChromium } from "../chromium.ts";
import { accessibilityFaults, keep } from "../local-stt/chat-lab-page.ts";
import { serveTranscriptions } from "../responses/transcription-server.ts";
import { sound } from "../speech/tones.ts";
import { serveVoice } from "../voices/serve-voice.ts";
import { buildPages, openInspector } from "./inspector-page.ts";

/** What is spoken into the microphone: two words and a minute of silence. */
const SPOKEN = sound(700, "three", 300, "one", 60_000);
const SPOKEN_RATE_HZ = 16_000;
const ANSWER = "Say good morning.";

let folder: string;
let browser: Browser;

describe.skipIf(CHROMIUM === null)("the voice of the playground", () => {
  beforeAll(async () => {
    buildPages();
    folder = await mkdtemp(join(tmpdir(), "antiphon-voice-"));
    await writeFile(join(folder, "spoken.wav"), wavFile(SPOKEN, SPOKEN_RATE_HZ));
    browser = await startChromium({ hears: join(folder, "spoken.wav") });
  });

  afterAll(async () => {
    await browser?.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  test("plays an answer while it streams, and again afterwards, here and in its run", async () => {
    const page = await openPlayground((await serveVoice()).env);
    await page.evaluate(listenToSound);
    await page.getByText("Answer", { exact: true }).click();
    await page.getByLabel("Speak the answer").check();
    await page.getByLabel("Message").fill(ANSWER);
    await page.keyboard.press("Enter");
    await expect.poll(() => page.evaluate("heard.peak()")).toBeGreaterThan(0.1);
    await plays(page);
    expect(await accessibilityFaults(page)).toEqual([]);
    await keep(page, "inspector-spoken");
    await page.getByRole("link", { name: "Inspect" }).click();
    await plays(page);
  });

  test("plays an answer that was not streamed", async () => {
    const page = await openPlayground((await serveVoice()).env);
    await page.getByText("Answer", { exact: true }).click();
    await page.getByLabel("Speak the answer").check();
    await page.getByText("Request", { exact: true }).click();
    await page.getByLabel("Stream", { exact: true }).uncheck();
    await page.getByLabel("Message").fill(ANSWER);
    await page.keyboard.press("Enter");
    await plays(page);
  });

  test("sends what the microphone heard, which the server transcribes for its model", async () => {
    const ears = await serveTranscriptions({ body: { text: "three one" } });
    const page = await openPlayground({ TRANSCRIPTION_BASE_URL: ears.baseUrl });
    await page.getByRole("button", { name: "Record the microphone" }).click();
    await expect.poll(() => page.getByLabel("Level").getAttribute("value").then(Number)).toBeGreaterThan(0.05);
    await page.getByRole("button", { name: "Stop recording" }).click();
    await page.getByRole("list", { name: "Attached" }).getByText("recording.wav").waitFor();
    await page.getByRole("button", { name: "Send" }).click();
    const link = page.getByRole("link", { name: "Inspect" });
    await link.waitFor();
    const [recording] = ears.received;
    expect(recording?.type).toMatch(/wav/);
    expect(loudest(recording?.bytes ?? Buffer.alloc(0))).toBeGreaterThan(1_000);
    await link.click();
    await plays(page, "Recording");
  });
});

/** A playground of a server with these settings, until the test ends. */
async function openPlayground(env: Readonly<Record<string, string>>): Promise<Page> {
  const server = await startDemoServer(env);
  onTestFinished(() => server.close());
  const page = await openInspector(browser, { server, query: "?page=playground" });
  await page.getByLabel("Message").waitFor();
  return page;
}

/** Presses play, and waits until the time of the sound moves on. */
async function plays(page: Page, name = "Spoken answer"): Promise<void> {
  const player = page.getByLabel(name);
  await player.waitFor();
  await expect.poll(() => player.evaluate((audio: HTMLAudioElement) => audio.duration)).toBeGreaterThan(0.1);
  await player.evaluate((audio: HTMLAudioElement) => audio.play());
  await expect.poll(() => player.evaluate((audio: HTMLAudioElement) => audio.currentTime)).toBeGreaterThan(0.05);
}

/** Runs in the page: `heard.peak()` is then the loudest sample that the page has played through its speakers so far. */
function listenToSound(): void {
  const analysers: AnalyserNode[] = [];
  let peak = 0;
  const connect: unknown = Reflect.get(AudioNode.prototype, "connect");
  if (typeof connect !== "function") throw new Error("This browser has no audio.");
  Object.defineProperty(AudioNode.prototype, "connect", {
    value: function (this: AudioNode, target: AudioNode) {
      if (target instanceof AudioDestinationNode) {
        const analyser = this.context.createAnalyser();
        Reflect.apply(connect, this, [analyser]);
        analysers.push(analyser);
      }
      return Reflect.apply(connect, this, [target]);
    },
  });
  const look = (): void => {
    for (const analyser of analysers) {
      const samples = new Float32Array(analyser.fftSize);
      analyser.getFloatTimeDomainData(samples);
      peak = Math.max(peak, ...samples);
    }
    requestAnimationFrame(look);
  };
  look();
  Object.assign(globalThis, { heard: { peak: () => peak } });
}

/** The loudest 16-bit sample of a WAV file. */
function loudest(wav: Buffer): number {
  const samples = wav.subarray(44);
  let most = 0;
  for (let at = 0; at + 1 < samples.length; at += 2) most = Math.max(most, Math.abs(samples.readInt16LE(at)));
  return most;
}

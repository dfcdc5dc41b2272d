import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** The browser for tests and pictures, from CHROMIUM_PATH or the system; null if there is none. */
export const CHROMIUM =
  [process.env["CHROMIUM_PATH"] ?? "", ...PLACES].find((path) => path !== "" && existsSync(path)) ?? null;

export interface ChromiumOptions {
  /** A WAV file that the microphone hears, from its beginning each time it is opened. Left out: there is none. */
  readonly hears?: string;
}

/** Starts the browser without a window. Throws if there is none. */
export async function startChromium({ hears }: ChromiumOptions = {}): Promise<Browser> {
  if (CHROMIUM === null) throw new Error("There is no Chromium. CHROMIUM_PATH names one.");
  const microphone = [
    "--use-fake-ui-for-media-stream",
    "--use-fake-device-for-media-stream",
    `--use-file-for-fake-audio-capture=${hears}%noloop`,
  ];
  const args = ["--no-sandbox", ...(hears === undefined ? [] : microphone)];
  return await chromium.launch({ executablePath: CHROMIUM, args });
}

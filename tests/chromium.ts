import { existsSync } from "node:fs";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** The browser for tests and pictures, from CHROMIUM_PATH or the system; null if there is none. */
export const CHROMIUM =
  [process.env["CHROMIUM_PATH"] ?? "", ...PLACES].find((path) => path !== "" && existsSync(path)) ?? null;

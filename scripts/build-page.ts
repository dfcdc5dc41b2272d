/**
 * Builds the pages: web/chat-lab, of the speech-to-text server, into dist/chat-lab, and web/inspector, of the Responses
 * API, into dist/inspector. Each includes the client. Prints only errors.
 */

import { copyFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const ROOT = resolve(import.meta.dirname, "..");
/** An install of the server alone has Vite in web/, and one of everything in the root. */
const VITE = createRequire(join(ROOT, "web/package.json")).resolve("vite");
const { build }: typeof import("vite") = await import(pathToFileURL(VITE).href);
/** Both pages record the microphone by the same worklet, a file of its own because it runs in its own thread. */
const WORKLET = join(ROOT, "web/chat-lab/microphone-worklet.ts");

await buildPage("chat-lab", "/demo/");
await buildPage("inspector", "/inspector/");
await copyFile(join(ROOT, "web/inspector/fonts/LICENSE"), join(ROOT, "dist/inspector/inter-latin-LICENSE"));

async function buildPage(name: string, base: string): Promise<void> {
  const source = join(ROOT, "web", name);
  await build({
    configFile: false,
    root: source,
    base,
    logLevel: "warn",
    build: {
      outDir: join(ROOT, "dist", name),
      emptyOutDir: true,
      target: "es2024",
      modulePreload: false,
      assetsInlineLimit: 0,
      chunkSizeWarningLimit: 1000,
      rolldownOptions: {
        input: { [name]: join(source, "index.html"), "microphone-worklet": WORKLET },
        output: { entryFileNames: "[name].js", chunkFileNames: "[name].js", assetFileNames: "[name][extname]" },
      },
    },
  });
}

/**
 * Builds the page of the speech-to-text server: web/chat-lab and the client, into dist/chat-lab. Prints only errors.
 */

import { join, resolve } from "node:path";
import { build } from "vite";

const ROOT = resolve(import.meta.dirname, "..");
const SOURCE = join(ROOT, "web/chat-lab");

await build({
  configFile: false,
  root: SOURCE,
  base: "/demo/",
  logLevel: "warn",
  build: {
    outDir: join(ROOT, "dist/chat-lab"),
    emptyOutDir: true,
    target: "es2024",
    modulePreload: false,
    assetsInlineLimit: 0,
    rolldownOptions: {
      input: { "chat-lab": join(SOURCE, "index.html"), "microphone-worklet": join(SOURCE, "microphone-worklet.ts") },
      output: { entryFileNames: "[name].js", chunkFileNames: "[name].js", assetFileNames: "[name][extname]" },
    },
  },
});

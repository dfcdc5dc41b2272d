import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { anchorOf } from "../../markdown-links.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
const STAGE = join(ROOT, "build/docs-pages");

/** What VitePress builds: the pages that build.ts has staged, without anything from other hosts. */
export default {
  title: "Antiphon",
  description: "Self-hosted, OpenAI-compatible Responses API and speech-to-text server",
  lang: "en",
  srcDir: STAGE,
  outDir: join(ROOT, "dist/docs"),
  cleanUrls: false,
  markdown: { html: false, anchor: { slugify: anchorOf } },
  themeConfig: {
    outline: [2, 3],
    search: { provider: "local" },
    sidebar: JSON.parse(readFileSync(join(STAGE, "outline.json"), "utf8")),
  },
};

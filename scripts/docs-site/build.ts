/**
 * Builds the documentation as a site in dist/docs, from docs/ and a few more files, with llms.txt and llms-full.txt. A
 * dead link fails the build. Nothing is loaded from elsewhere, now or by the site.
 */

import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { llmsIndex, llmsText } from "./llms-text.ts";
import { readOutline } from "./outline.ts";
import { sitePath, sitePaths, siteText } from "./site-pages.ts";

const ROOT = resolve(import.meta.dirname, "../..");
/** Where VitePress reads the pages. */
const STAGE = join(ROOT, "build/docs-pages");
const SITE = join(ROOT, "dist/docs");
const INDEX = "docs/index.md";
const BESIDE = ["*.md", "docs/**/*", "{contract-tests,examples,specs}/README.md", "scripts/**/README.md"];

const sections = readOutline(readFileSync(join(ROOT, INDEX), "utf8"));
const pathOf = (link: string): string => join(dirname(INDEX), link);
const addressOf = (path: string): string => `/${sitePath(path) ?? path}`;

rmSync(STAGE, { recursive: true, force: true });
rmSync(SITE, { recursive: true, force: true });
const paths = sitePaths(globSync(BESIDE, { cwd: ROOT, exclude: ["**/node_modules/**"] }));
for (const path of paths) stage(path);
writeFileSync(join(STAGE, "outline.json"), JSON.stringify(sidebar()));

const vitepress = join(import.meta.dirname, "node_modules/vitepress/bin/vitepress.js");
execFileSync(process.execPath, [vitepress, "build", import.meta.dirname], { stdio: "inherit" });

cpSync(STAGE, SITE, { recursive: true, filter: (file) => !file.endsWith(".json") });
const listed = sections.flatMap(({ pages }) => pages.map(({ link }) => pathOf(link)));
writeFileSync(
  join(SITE, "llms.txt"),
  llmsIndex(sections, (link) => addressOf(pathOf(link))),
);
writeFileSync(
  join(SITE, "llms-full.txt"),
  llmsText(listed.map((path) => ({ address: addressOf(path), text: textOf(path) }))),
);
console.log(`dist/docs has ${paths.filter((path) => path.endsWith(".md")).length} pages.`);

function stage(path: string): void {
  const file = join(STAGE, sitePath(path) ?? path);
  mkdirSync(dirname(file), { recursive: true });
  if (path.endsWith(".md")) writeFileSync(file, textOf(path));
  else cpSync(join(ROOT, path), file);
}

function textOf(path: string): string {
  return siteText(path, readFileSync(join(ROOT, path), "utf8"));
}

/** As VitePress wants it. */
function sidebar(): object[] {
  return sections.map(({ title, pages }) => ({
    text: title,
    items: pages.map((page) => ({ text: page.title, link: addressOf(pathOf(page.link)).replace(/\.md$/, "") })),
  }));
}

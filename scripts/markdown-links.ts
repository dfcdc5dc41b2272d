import { dirname, join } from "node:path/posix";
import type { TextFile } from "./text-file.ts";

const FENCED = /^ *```[^]*?^ *```/gm;
const INLINE_CODE = /`[^`\n]*`/g;
const LINK = /!?\[[^\]]*\]\(([^)\s]+)\)/g;
const HEADING = /^#{1,6} +(.+)$/gm;
/** On other sites, on the server that shows the text, or at an operation of the page /docs. */
const ELSEWHERE = /^(?:[a-z]+:|\/|#tag\/)/;

/** Links of Markdown files that lead to no file of the repository, or to no heading of it. */
export function deadLinks(files: readonly TextFile[]): string[] {
  const pages = new Map(files.filter(({ path }) => path.endsWith(".md")).map(({ path, text }) => [path, text]));
  const paths = files.map(({ path }) => path);
  const known = new Set(paths);
  const isThere = (path: string): boolean =>
    known.has(path) || paths.some((file) => file.startsWith(`${path.replace(/\/$/, "")}/`));
  return [...pages].flatMap(([page, text]) =>
    linksOf(text)
      .filter((link) => !ELSEWHERE.test(link))
      .flatMap((link) => {
        const [file = "", heading] = link.split("#");
        const path = file === "" ? page : join(dirname(page), file);
        if (!isThere(path)) return [`${page} links to ${link}`];
        const there = pages.get(path);
        if (heading === undefined || there === undefined || anchorsOf(there).has(heading)) return [];
        return [`${page} links to ${link}, which has no such heading`];
      }),
  );
}

/** The pages of docs/ that docs/index.md does not list, and so the site neither. */
export function unlistedPages(files: readonly TextFile[]): string[] {
  const index = files.find(({ path }) => path === "docs/index.md");
  const listed = new Set(linksOf(index?.text ?? ""));
  return files
    .map(({ path }) => /^docs\/([\w-]+\.md)$/.exec(path)?.[1] ?? "index.md")
    .filter((page) => page !== "index.md" && !listed.has(page))
    .map((page) => `docs/${page}`);
}

/** The id that a heading gets, as on the sites where repositories are shown. */
export function anchorOf(heading: string): string {
  const words = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
  return words.replaceAll(/[^\p{L}\p{N}\s_-]/gu, "").replaceAll(/\s/g, "-");
}

function linksOf(markdown: string): string[] {
  return [...prose(markdown).replaceAll(INLINE_CODE, "`").matchAll(LINK)].map(([, link = ""]) => link);
}

function anchorsOf(markdown: string): ReadonlySet<string> {
  return new Set([...prose(markdown).matchAll(HEADING)].map(([, heading = ""]) => anchorOf(heading.trim())));
}

function prose(markdown: string): string {
  return markdown.replaceAll(FENCED, "");
}

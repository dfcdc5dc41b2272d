import { execFileSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What is downloaded once. */
export const CACHE = join(import.meta.dirname, "../../.cache/tools-quality");

/** A question and the text that answers it. */
export interface Answer {
  readonly question: string;
  readonly text: string;
}

/** Shorter texts are tables of contents, and placeholders. */
const TEXT_CHARACTERS_MIN = 80;

/**
 * The questions of the Debian FAQ in a language, with their answers. They come from Debian's documentation packages,
 * which apt fetches into the cache; nothing of them is kept in this repository.
 */
export function debianFaq(language: string): readonly Answer[] {
  const name = language === "en" ? "debian-faq" : `debian-faq-${language}`;
  const folder = join(CACHE, name);
  if (!existsSync(folder)) unpackPackage(name, folder);
  const pages = globSync(join(folder, `usr/share/doc/debian/FAQ/**/*.${language}.html`)).toSorted();
  return pages.flatMap((page) => answersIn(readFileSync(page, "utf8")));
}

function unpackPackage(name: string, folder: string): void {
  mkdirSync(CACHE, { recursive: true });
  execFileSync("apt-get", ["download", "-q", name], { cwd: CACHE, stdio: ["ignore", "ignore", "inherit"] });
  const [file] = globSync(join(CACHE, `${name}_*.deb`));
  if (file === undefined) throw new Error(`apt-get downloaded no ${name}`);
  execFileSync("dpkg", ["-x", file, folder]);
}

/** The sections of a page: their titles are questions, but for the number before them. */
function answersIn(html: string): readonly Answer[] {
  const [, ...sections] = html.split(/<h[2-6] class="title">/);
  return sections.flatMap((section) => {
    const [title = "", body = ""] = section.split(/<\/h[2-6]>/, 2);
    const question = plainText(title).replace(/^[\d.]+\s*/, "");
    const text = plainText(body.replace(/<div class="navfooter">.*/s, ""));
    return question === "" || text.length < TEXT_CHARACTERS_MIN ? [] : [{ question, text }];
  });
}

function plainText(html: string): string {
  const text = html.replaceAll(/<[^>]+>/g, " ").replaceAll(/&(#x?)?(\w+);/g, (whole, number, name) => {
    if (number === undefined) return NAMED.get(name) ?? whole;
    return String.fromCodePoint(Number.parseInt(name, number === "#x" ? 16 : 10));
  });
  return text.replaceAll(/\s+/g, " ").trim();
}

const NAMED: ReadonlyMap<string, string> = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
]);

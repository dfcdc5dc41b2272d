import { execFileSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What is downloaded once. */
export const CACHE = join(import.meta.dirname, "../../.cache/tools-quality");

/** A text, and the question that it answers. */
export interface Answer {
  /** Null if its title is none, such as "Authors" or "aptitude", which stands above two texts of the Debian FAQ. */
  readonly question: string | null;
  readonly text: string;
}

/** Shorter texts are tables of contents, and placeholders. */
const TEXT_CHARACTERS_MIN = 80;

/** All FAQs in English. */
const ENGLISH_SETS = ["en", "perl", "python"];

/**
 * The texts of a set, with their questions: `perl`, `python`, a language of the Debian FAQ, or `english` for all three
 * in this language. They come from Debian's documentation packages, which apt fetches into the cache; nothing of them
 * is kept in this repository.
 */
export function readFaq(set: string): readonly Answer[] {
  if (set === "english") return ENGLISH_SETS.flatMap(readFaq);
  if (set === "perl") return pagesOf("perl-doc", "usr/share/perl/*/pod/perlfaq[1-9].pod").flatMap(answersInPod);
  if (set === "python")
    return pagesOf(pythonPackage(), "usr/share/doc/python3.+([0-9])/html/faq/*.html").flatMap(answersInManual);
  const name = set === "en" ? "debian-faq" : `debian-faq-${set}`;
  return pagesOf(name, `usr/share/doc/debian/FAQ/**/*.${set}.html`).flatMap(answersIn);
}

/** The contents of a package's files. */
function pagesOf(name: string, pattern: string): readonly string[] {
  const folder = join(CACHE, name);
  if (!existsSync(folder)) unpackPackage(name, folder);
  const paths = globSync(join(folder, pattern)).toSorted();
  return paths.map((path) => readFileSync(path, "utf8"));
}

/** The package with the manual of Debian's version of Python. */
function pythonPackage(): string {
  const depends = execFileSync("apt-cache", ["depends", "python3-doc"]).toString();
  const [name] = /python3\.\d+-doc/.exec(depends) ?? [];
  if (name === undefined) throw new Error("apt-cache knows no package with Python's manual");
  return name;
}

function unpackPackage(name: string, folder: string): void {
  mkdirSync(CACHE, { recursive: true });
  execFileSync("apt-get", ["download", "-q", name], { cwd: CACHE, stdio: ["ignore", "ignore", "inherit"] });
  const [file] = globSync(join(CACHE, `${name}_*.deb`));
  if (file === undefined) throw new Error(`apt-get downloaded no ${name}`);
  execFileSync("dpkg", ["-x", file, folder]);
}

/** The sections of a page of Perl's documentation. */
function answersInPod(pod: string): readonly Answer[] {
  const [, ...sections] = pod.split(/^=head2 /m);
  return sections.flatMap((section) => {
    const end = section.indexOf("\n");
    const body = section.slice(end).split(/^=head1 /m, 1)[0] ?? "";
    return answerOf(podText(section.slice(0, end)), podText(body));
  });
}

/** Without commands and the marks of formats, such as `C<printf>` and `L<words|place>`. */
function podText(pod: string): string {
  const text = pod.replaceAll(/^=\w.*$/gm, "").replaceAll(/[A-Z]<+\s*(?:[^<>|]*\|)?([^<>]*?)\s*>+/g, "$1");
  return text.replaceAll(/\s+/g, " ").trim();
}

/** The sections of a page of Python's manual. Those of other kinds have no question mark. */
function answersInManual(html: string): readonly Answer[] {
  const [, ...sections] = html.split(/<h[23]>/);
  return sections.flatMap((section) => {
    const [title = "", body = ""] = section.split(/<\/h[23]>/, 2);
    const question = plainText(title)
      .replace(/^[\d.]+\s*/, "")
      .replace("\u00b6", "")
      .trim();
    const text = plainText(body.replace(/<div class="clearer.*/s, ""));
    return question.endsWith("?") ? answerOf(question, text) : []; // The others are titles of chapters.
  });
}

/** The sections of a page: their titles are questions, but for the number before them. */
function answersIn(html: string): readonly Answer[] {
  const [, ...sections] = html.split(/<h[2-6] class="title">/);
  return sections.flatMap((section) => {
    const [title = "", body = ""] = section.split(/<\/h[2-6]>/, 2);
    const question = plainText(title).replace(/^[\d.]+\s*/, "");
    const text = plainText(body.replace(/<div class="navfooter">.*/s, ""));
    return answerOf(question, text);
  });
}

function answerOf(title: string, text: string): readonly Answer[] {
  if (title === "" || text.length < TEXT_CHARACTERS_MIN) return [];
  return [{ question: title.trimEnd().endsWith("?") ? title : null, text }];
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

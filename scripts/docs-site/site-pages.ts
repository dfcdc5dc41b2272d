import { dirname, join, relative } from "node:path/posix";

/** Files outside of docs/ that are pages of the site, and their names there. */
const OTHER_PAGES: Readonly<Record<string, string>> = {
  "ARCHITECTURE.md": "architecture.md",
  "CHANGELOG.md": "changes.md",
  "CONTRIBUTING.md": "contributing.md",
  "SECURITY.md": "security.md",
  "STYLE.md": "style.md",
  "contract-tests/README.md": "contract-suites.md",
  "examples/README.md": "examples.md",
  "scripts/fixture-model/spoken-words/README.md": "spoken-words.md",
  "specs/README.md": "specs.md",
};

const COMMENT = /<!--[^]*?-->\n*/g;
const LINK = /(!?)\[([^\]]*)\]\(([^)\s]+)\)/g;
const CODE = /(^ *```[^]*?^ *```$|`[^`\n]*`)/gm;

/** The files of the repository from which the site is made, out of all its files. */
export function sitePaths(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => sitePath(path) !== null);
}

/** Where a file of the repository lies in the site; null if it does not. */
export function sitePath(path: string): string | null {
  if (/^docs\/.*\.(md|png|svg)$/.test(path)) return path.slice("docs/".length);
  return OTHER_PAGES[path] ?? null;
}

/**
 * The text of a page as the site shows it: without comments, and with links to the places of pages in the site. A link
 * to a file that is no page becomes its words and its path.
 */
export function siteText(path: string, markdown: string): string {
  const here = sitePath(path) ?? path;
  return markdown
    .split(CODE)
    .map((piece, index) => (index % 2 === 1 ? piece : withSiteLinks(piece.replaceAll(COMMENT, ""), path, here)))
    .join("");
}

function withSiteLinks(text: string, path: string, here: string): string {
  return text.replaceAll(LINK, (whole, mark: string, words: string, link: string) => {
    const [file = "", heading] = link.split("#");
    if (file === "" || /^[a-z]+:/.test(link)) return whole;
    const target = join(dirname(path), file);
    const there = sitePath(target);
    if (there === null) return `${words} (\`${target}\`)`;
    const way = relative(dirname(here), there);
    const anchored = heading === undefined ? way : `${way}#${heading}`;
    return `${mark}[${words}](${anchored.startsWith(".") ? anchored : `./${anchored}`})`;
  });
}

/** A heading of docs/index.md with the pages that its table lists. */
export interface Section {
  readonly title: string;
  readonly pages: readonly ListedPage[];
}

export interface ListedPage {
  readonly title: string;
  /** As docs/index.md links to it, such as `tools.md` or `../ARCHITECTURE.md`. */
  readonly link: string;
  /** What the page is about. */
  readonly about: string;
}

const ROW = /^\| (.+?) \| (.+?) \|$/;
const LINK = /\[([^\]]+)\]\(([^)#]+)\)/g;

/** The order of the site: what the tables of docs/index.md list. Rows without a link are no pages. */
export function readOutline(index: string): readonly Section[] {
  const sections: { title: string; pages: ListedPage[] }[] = [];
  for (const line of index.split("\n")) {
    const [, title] = /^## (.+)$/.exec(line) ?? [];
    if (title !== undefined) sections.push({ title, pages: [] });
    const [, names = "", about = ""] = ROW.exec(line) ?? [];
    for (const [, name = "", link = ""] of names.matchAll(LINK))
      sections.at(-1)?.pages.push({ title: name, link, about });
  }
  return sections.filter(({ pages }) => pages.length > 0);
}

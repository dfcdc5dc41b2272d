/** A line of a page. */
export interface PageLine {
  readonly text: string;
  /** The height of most of its letters, in points. */
  readonly size: number;
  /** Its distance from the lower edge of the page, in points. */
  readonly y: number;
}

type Page = readonly PageLine[];

export interface JoinedPages {
  readonly text: string;
  /** Whether it has headings with `#` before them, as in Markdown. */
  readonly isMarked: boolean;
}

/**
 * The text of pages: without running headers and footers, with hyphenated words joined, and with `#` before headings,
 * which are lines in larger letters than most of the text.
 */
export function joinPages(pages: readonly Page[]): JoinedPages {
  const kept = withoutRunningLines(pages);
  const levelOf = headingLevels(kept.flat());
  const joinWord = wordJoiner(kept);
  const output: string[] = [];
  let isMarked = false;
  let lastLevel = 0;
  for (const page of kept) {
    for (const line of page) {
      const level = levelOf(line);
      const last = output.pop() ?? "";
      const joined =
        level === lastLevel ? (level > 0 ? `${last} ${line.text.trim()}` : joinWord(last, line.text)) : null;
      if (joined === null) output.push(last, level > 0 ? `\n${"#".repeat(level)} ${line.text.trim()}` : line.text);
      else output.push(joined);
      if (level > 0) isMarked = true;
      lastLevel = level;
    }
    if (output.length > 0 && !HYPHENATED.test(output.at(-1) ?? "")) output.push("");
  }
  const text = output
    .join("\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
  return { text, isMarked };
}

const RUNNING_PAGES_MIN = 3;
/** Headers of left and right pages differ, and those of chapters stand on some pages only. */
const RUNNING_SHARE_MIN = 0.3;
/** How many lines at each edge of a page may be running. */
const RUNNING_LINES_MAX = 2;
const SAME_PLACE_POINTS = 4;
/** The maximum numbers of a line that may be the number of its page. */
const NUMBERS_MAX = 4;

/** Leaves out lines that stand at the same edge of many pages and differ in the number of the page at most. */
function withoutRunningLines(pages: readonly Page[]): readonly Page[] {
  const counts = new Map<string, number>();
  const keysOfPages = pages.map((page, index) => new Map(edgeLines(page).map((line) => [line, keysOf(line, index)])));
  for (const keys of keysOfPages)
    for (const key of new Set([...keys.values()].flat())) counts.set(key, (counts.get(key) ?? 0) + 1);
  const most = Math.max(RUNNING_PAGES_MIN, pages.length * RUNNING_SHARE_MIN);
  return pages.map((page, index) => {
    const keys = keysOfPages[index];
    const isRunning = (line: PageLine): boolean =>
      keys?.get(line)?.some((key) => (counts.get(key) ?? 0) >= most) ?? false;
    const keptLines = page.filter((line) => !isRunning(line));
    return keptLines.some(({ text }) => /\S/.test(text)) ? keptLines : page;
  });
}

function edgeLines(page: Page): readonly PageLine[] {
  const lines = page.filter(({ text }) => /\S/.test(text)).toSorted((one, other) => other.y - one.y);
  return [...new Set([...lines.slice(0, RUNNING_LINES_MAX), ...lines.slice(-RUNNING_LINES_MAX)])];
}

/** Lines that differ in the number of their page only have a key in common. */
function keysOf({ text, y }: PageLine, page: number): readonly string[] {
  const line = `${Math.round(y / SAME_PLACE_POINTS)} ${text.trim().replaceAll(/\s+/g, " ")}`;
  const numbers = [...line.matchAll(/(?<= |\D)\d{1,6}/g)].slice(0, NUMBERS_MAX);
  const numbered = numbers.map(
    ({ index, 0: digits }) => `${line.slice(0, index)}#${Number(digits) - page}${line.slice(index + digits.length)}`,
  );
  return [line, ...numbered];
}

/** Letters that are this much larger than those of most of the text are those of headings. */
const HEADING_RATIO = 1.15;
const HEADING_CHARACTERS_MAX = 200;
const LEVELS_MAX = 6;
/** In a text with a larger share of headings, such as slides, large letters say nothing. */
const HEADINGS_SHARE_MAX = 0.3;

/** The level of a line as a heading, from 1 for the largest letters; 0 if it is none. */
function headingLevels(lines: Page): (line: PageLine) => number {
  const characters = new Map<number, number>();
  for (const { text, size } of lines) characters.set(rounded(size), (characters.get(rounded(size)) ?? 0) + text.length);
  const [usual = 0] = [...characters].toSorted(([, one], [, other]) => other - one)[0] ?? [];
  const isHeading = ({ text, size }: PageLine): boolean =>
    rounded(size) >= usual * HEADING_RATIO && text.length <= HEADING_CHARACTERS_MAX && /\p{L}/u.test(text);
  const headings = lines.filter(isHeading);
  const total = lines.reduce((sum, { text }) => sum + text.length, 0);
  if (headings.reduce((sum, { text }) => sum + text.length, 0) > total * HEADINGS_SHARE_MAX) return () => 0;
  const sizes = [...new Set(headings.map(({ size }) => rounded(size)))].toSorted((one, other) => other - one);
  return (line) => (isHeading(line) ? Math.min(LEVELS_MAX, sizes.indexOf(rounded(line.size)) + 1) : 0);
}

function rounded(size: number): number {
  return Math.round(size * 2) / 2;
}

const HYPHENATED = /\p{L}[-\u00ad\u2010]$/u;
const COMPOUND = /\p{L}+[-\u2010]\p{L}+/gu;

/**
 * Joins a line with the next one if a word is hyphenated between them; null otherwise. A hyphen stays in a word that
 * the text has with its hyphen elsewhere.
 */
function wordJoiner(pages: readonly Page[]): (last: string, next: string) => string | null {
  const compounds = new Set(
    pages.flat().flatMap(({ text }) => text.match(COMPOUND)?.map((word) => word.toLowerCase()) ?? []),
  );
  return (last, next) => {
    const end = last.trimEnd();
    const start = next.trimStart();
    if (!HYPHENATED.test(end) || !/^\p{Ll}/u.test(start)) return null;
    const first = /\p{L}+$/u.exec(end.slice(0, -1))?.[0] ?? "";
    const second = /^\p{L}+/u.exec(start)?.[0] ?? "";
    const keepsHyphen = compounds.has(`${first}-${second}`.toLowerCase());
    return `${keepsHyphen ? end : end.slice(0, -1)}${start}`;
  };
}

import type { TextLayout } from "@antiphon/media/document-text.ts";
import { TableColumns, type TablePlace } from "./table-columns.ts";

/** How good it is to cut a text after an atom; higher is better. */
export const CUTS = { hard: 0, word: 1, line: 2, blank: 3, heading: 4 } as const;
export type Cut = (typeof CUTS)[keyof typeof CUTS];

/** A part of a text that is not cut: a sentence, a line, or a part of a longer one. */
export interface Atom {
  /** The range in the text, in UTF-16 units; the end is exclusive. Atoms follow each other without gaps. */
  readonly start: number;
  readonly end: number;
  readonly tokens: number;
  readonly cut: Cut;
  /** The headings above its start, outermost first. */
  readonly headings: readonly string[];
  /** The line with the names of the columns, if it starts below that line in a table. */
  readonly columns: string | null;
}

export interface AtomOptions {
  readonly layout: TextLayout;
  /** Larger atoms are split; a single character may be larger. */
  readonly tokensMax: number;
  readonly count: (text: string) => number;
}

/** Limits the text searched for an end and counted at once, because both take the square of its length. */
const CHARACTERS_MAX = 256;
const LINE_CHARACTERS_MAX = 2_048;
const LINE_END = /(?:[.!?…]+["'”’»)\]]*)?\n(?:[^\S\n]*\n)*/.source;
const SENTENCE_END = /[.!?…]+["'”’»)\]]*[^\S\n]+|[。！？｡]+[」』）”’]*/.source;
const END = new RegExp(`${LINE_END}|${SENTENCE_END}`);
const HEADING = /(#{1,9})[ \t]+([^\n]{0,200})/y;
const FENCE = /[ \t]{0,3}(?:```|~~~)/y;

/** Cuts a text into atoms, in time linear in its length. */
export function* atomsOf(text: string, { layout, tokensMax, count }: AtomOptions): Generator<Atom> {
  const surroundings = new Surroundings(text, layout);
  for (let start = 0; start < text.length; ) {
    const { headings, columns, isHeading, isTable } = surroundings.enter(start);
    const { end, cut } = findEnd(text, start);
    const isBeforeHeading = cut >= CUTS.line && surroundings.isHeading(end);
    const ownCut = isTable && cut === CUTS.line && !isLineStart(text, end) ? CUTS.word : cut;
    const shownCut = isBeforeHeading ? CUTS.heading : isHeading && end < text.length ? CUTS.hard : ownCut;
    const tokens = countRange(text, start, end, count);
    yield* splitAtom(text, { start, end, tokens, cut: shownCut, headings, columns }, { tokensMax, count });
    start = end;
  }
}

/** What is around a position that moves through the atoms of a text. */
class Surroundings {
  readonly #text: string;
  readonly #outline: Outline | null;
  readonly #tables: TableColumns | null;
  #place: TablePlace = { isTable: false };

  constructor(text: string, layout: TextLayout) {
    this.#text = text;
    this.#outline = layout === "marked" || layout === "sheets" ? new Outline(text) : null;
    this.#tables = layout === "plain" ? null : new TableColumns(layout);
  }

  /** Moves to an atom. Its headings and columns are those above it. */
  enter(
    start: number,
  ): Pick<Atom, "headings" | "columns"> & { readonly isHeading: boolean; readonly isTable: boolean } {
    const headings = this.#outline?.headings ?? [];
    const isHeading = this.#outline?.enter(start) ?? false;
    if (this.#tables !== null && isLineStart(this.#text, start)) {
      const isAfterBlank = isLineStart(this.#text, start - 1);
      this.#place = this.#tables.enterLine(lineAt(this.#text, start), { isHeading, isAfterBlank });
    }
    const columns = this.#place.isTable ? this.#place.columns : null;
    return { headings, columns, isHeading, isTable: this.#place.isTable };
  }

  isHeading(start: number): boolean {
    return this.#outline?.isHeading(start) ?? false;
  }
}

/** The line at this start, or the beginning of a long one. */
function lineAt(text: string, start: number): string {
  const window = text.slice(start, start + LINE_CHARACTERS_MAX);
  const end = window.indexOf("\n");
  return end < 0 ? window : window.slice(0, end);
}

/** The headings above a position that moves through the lines of a text. */
class Outline {
  readonly #text: string;
  #path: readonly { readonly level: number; readonly title: string }[] = [];
  #isFenced = false;
  headings: readonly string[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  /** Moves to an atom. Returns whether it is a heading, which is above everything that follows it. */
  enter(start: number): boolean {
    if (!isLineStart(this.#text, start)) return false;
    FENCE.lastIndex = start;
    if (FENCE.test(this.#text)) this.#isFenced = !this.#isFenced;
    const heading = this.#headingAt(start);
    if (heading === null) return false;
    this.#path = [...this.#path.filter(({ level }) => level < heading.level), heading];
    this.headings = this.#path.map(({ title }) => title);
    return true;
  }

  isHeading(start: number): boolean {
    return isLineStart(this.#text, start) && this.#headingAt(start) !== null;
  }

  #headingAt(start: number): { readonly level: number; readonly title: string } | null {
    if (this.#isFenced || this.#text[start] !== "#") return null;
    HEADING.lastIndex = start;
    const [, marks = "", line = ""] = HEADING.exec(this.#text) ?? [];
    const title = line.replace(/[ \t]*#*\s*$/, "").trim();
    return title === "" ? null : { level: marks.length, title };
  }
}

function isLineStart(text: string, place: number): boolean {
  return place === 0 || text[place - 1] === "\n";
}

function findEnd(text: string, start: number): { readonly end: number; readonly cut: Cut } {
  const window = text.slice(start, start + CHARACTERS_MAX);
  const match = END.exec(window);
  if (match !== null) {
    const [sign] = match;
    const lines = sign.split("\n").length - 1;
    const isBlank = lines > 1 || (lines === 1 && match.index === 0 && isLineStart(text, start));
    return { end: start + match.index + sign.length, cut: isBlank ? CUTS.blank : CUTS.line };
  }
  if (window.length < CHARACTERS_MAX) return { end: text.length, cut: CUTS.line };
  return cutBefore(text, start, start + CHARACTERS_MAX);
}

/** Cuts at the last space of a range if it is in the second half, otherwise at its end. */
function cutBefore(text: string, start: number, limit: number): { readonly end: number; readonly cut: Cut } {
  const space = text.slice(start, limit).lastIndexOf(" ");
  if (space > (limit - start) / 2) return { end: start + space, cut: CUTS.word };
  const code = text.charCodeAt(limit - 1);
  const isPair = code >= 0xd800 && code <= 0xdbff && limit - start > 1;
  return { end: isPair ? limit - 1 : limit, cut: CUTS.hard };
}

/** Cuts an atom that has too many tokens in halves. */
function* splitAtom(text: string, atom: Atom, options: Omit<AtomOptions, "layout">): Generator<Atom> {
  const { start, end, tokens, cut, headings, columns } = atom;
  const isPair = end - start === 2 && (text.codePointAt(start) ?? 0) > 0xffff;
  if (tokens <= options.tokensMax || end - start < 2 || isPair) {
    yield atom;
    return;
  }
  const half = cutBefore(text, start, start + Math.max(1, (end - start) >> 1));
  const middle = half.end > start ? half.end : start + 1;
  const leftHalf = {
    start,
    end: middle,
    tokens: countRange(text, start, middle, options.count),
    cut: half.cut,
    headings,
    columns,
  };
  const right = { start: middle, end, tokens: countRange(text, middle, end, options.count), cut, headings, columns };
  yield* splitAtom(text, leftHalf, options);
  yield* splitAtom(text, right, options);
}

/** Tokens begin with their space, so a space counts with the following text. */
function countRange(text: string, start: number, end: number, count: (text: string) => number): number {
  const from = start > 0 && text[start - 1] === " " ? start - 1 : start;
  const isSpaceLast = end - from > 1 && end < text.length && text[end - 1] === " ";
  return count(text.slice(from, isSpaceLast ? end - 1 : end));
}

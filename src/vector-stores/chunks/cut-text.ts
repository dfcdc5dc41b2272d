import type { TextLayout } from "@antiphon/media/document-text.ts";
import { type Atom, atomsOf, type Cut } from "./atoms.ts";

export interface CutOptions {
  /** The maximum tokens of a chunk. */
  readonly sizeMax: number;
  /** The maximum tokens of a chunk that the next one repeats; at most half of `sizeMax`. */
  readonly overlapMax: number;
  /** The maximum tokens of the whole text. */
  readonly tokensMax: number;
  readonly layout: TextLayout;
  /** Counts the tokens of a short text. */
  readonly count: (text: string) => number;
}

/** A range of a text, in UTF-16 units; the end is exclusive. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
  /** The headings above its start, outermost first. */
  readonly headings: readonly string[];
  /** The line with the names of the columns, if it starts below that line in a table. */
  readonly columns: string | null;
}

/** The text has more tokens than `tokensMax`. */
export class TooManyTokens extends Error {
  override readonly name = "TooManyTokens";
}

/** Smaller atoms would cut words. */
const ATOM_TOKENS_MIN = 8;
/** Tokens of a chunk beyond those of its atoms: a word at its start, and a space at its end. */
const EDGE_TOKENS = 4;

/**
 * Cuts a text into chunks that cover it, in time linear in its length. A chunk ends before a heading, otherwise at a
 * blank line, otherwise at the end of a line or sentence, if one is far enough from its start; the next chunk begins in
 * the same way. Throws `TooManyTokens`.
 */
export function* cutText(text: string, { tokensMax, layout, count, ...bounds }: CutOptions): Generator<TextRange> {
  const sizeMax = bounds.sizeMax - EDGE_TOKENS;
  const sizes = { sizeMax, overlapMax: Math.max(0, bounds.overlapMax - EDGE_TOKENS) };
  let atoms: Atom[] = [];
  let size = 0;
  let total = 0;
  for (const atom of atomsOf(text, { layout, tokensMax: atomTokensMax(sizes), count })) {
    total += atom.tokens;
    if (total > tokensMax) throw new TooManyTokens(`the text has more than ${tokensMax} tokens`);
    if (size + atom.tokens > sizeMax && atoms.length > 0) {
      const end = chooseEnd(atoms, sizes);
      yield rangeOf(atoms.slice(0, end));
      atoms = atoms.slice(chooseStart(atoms, end, sizes));
      size = tokensOf(atoms);
    }
    atoms.push(atom);
    size += atom.tokens;
  }
  if (atoms.length > 0) yield rangeOf(atoms);
}

type Sizes = Pick<CutOptions, "sizeMax" | "overlapMax">;

/** Small compared to a chunk and its overlap, so that both can be nearly full. */
function atomTokensMax({ sizeMax, overlapMax }: Sizes): number {
  const ofOverlap = overlapMax === 0 ? Number.POSITIVE_INFINITY : Math.floor(overlapMax / 2);
  return Math.max(ATOM_TOKENS_MIN, Math.min(Math.floor((sizeMax - overlapMax) / 4), ofOverlap));
}

/** The number of atoms for the chunk: at least half of those that the last one did not have. */
function chooseEnd(atoms: readonly Atom[], { sizeMax, overlapMax }: Sizes): number {
  const sizeMin = overlapMax + (sizeMax - overlapMax) / 2;
  let best = atoms.length;
  let bestCut: Cut | -1 = -1;
  let size = tokensOf(atoms);
  for (let end = atoms.length; end > 0 && size >= sizeMin; end--) {
    const atom = atoms[end - 1];
    if (atom === undefined) break;
    if (atom.cut > bestCut) [best, bestCut] = [end, atom.cut];
    size -= atom.tokens;
  }
  return best;
}

/** The first atom of the next chunk: it repeats at least half of the overlap, and all of it if the cut is as good. */
function chooseStart(atoms: readonly Atom[], end: number, { overlapMax }: Sizes): number {
  let best = end;
  let bestCut: Cut | -1 = -1;
  let overlap = 0;
  for (let start = end - 1; start > 0; start--) {
    overlap += atoms[start]?.tokens ?? 0;
    if (overlap > overlapMax) break;
    const cut = atoms[start - 1]?.cut ?? 0;
    if (cut < bestCut && overlap >= overlapMax / 2) continue;
    [best, bestCut] = [start, overlap >= overlapMax / 2 ? cut : -1];
  }
  return best;
}

function tokensOf(atoms: readonly Atom[]): number {
  return atoms.reduce((sum, { tokens }) => sum + tokens, 0);
}

function rangeOf(atoms: readonly Atom[]): TextRange {
  const first = atoms[0];
  const last = atoms.at(-1);
  if (first === undefined || last === undefined) throw new RangeError("a chunk has an atom");
  return { start: first.start, end: last.end, headings: first.headings, columns: first.columns };
}

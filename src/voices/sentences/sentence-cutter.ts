import { endsInAbbreviation } from "./abbreviations.ts";
import { spokenWords } from "./spoken-words.ts";

/**
 * What is shorter is spoken together with what follows, in one breath; but the first sentence is spoken as soon as it
 * is there.
 */
export const SENTENCE_CHARACTERS_MIN = 20;
/** What is longer is cut where it hurts least. */
export const SENTENCE_CHARACTERS_MAX = 400;

const FENCE = /(?:^|\n) {0,3}(`{3,}|~{3,})([^\n]*)(\n|$)/;
/** What may stand behind the signs that open a block of code. */
const INFO_CHARACTERS_MAX = 200;
/** Stands for the beginning of a line that does not end a block of code. */
const NO_SIGNS = "x";
const CLAUSE_END = /[,;:](?=\s)|[，、；：،؛]| [–—-] /g;
/** Stops after which no space is written, and what may close after them. */
const WIDE_STOP = /[。！？｡︒][」』）】”’]*$/;
const sentences = new Intl.Segmenter("en", { granularity: "sentence" });

/**
 * Cuts an answer into sentences to speak while it is still being written. Blocks of code are left out, and so are the
 * signs of Markdown. A sentence ends when the next one has begun: until then its dot may be that of a number or of an
 * abbreviation.
 */
export class SentenceCutter {
  #text = "";
  #isLineStart = true;
  /** The signs that opened the block of code we are in. */
  #fence: string | null = null;
  #isFirst = true;

  /** The sentences that this text completes. */
  push(text: string): readonly string[] {
    this.#text += text;
    return this.#cut(false);
  }

  /** The text ends here, or something else begins: what is left is a sentence. */
  end(): readonly string[] {
    const rest = this.#cut(true);
    this.#text = "";
    this.#isLineStart = true;
    this.#fence = null;
    return rest;
  }

  #cut(isWhole: boolean): readonly string[] {
    const cut: string[] = [];
    for (;;) {
      if (this.#fence !== null) {
        if (!this.#leaveFence(this.#fence)) return cut;
        continue;
      }
      const fence = this.#nextFence(isWhole);
      const prose = fence === null ? this.#text : this.#text.slice(0, fence.start);
      const rest = this.#cutProse(prose, isWhole || fence !== null, cut);
      if (fence === null) {
        this.#text = rest;
        return cut;
      }
      this.#text = this.#text.slice(fence.end);
      if (!fence.isOpen) return cut;
      this.#fence = fence.signs;
      this.#isLineStart = true;
    }
  }

  /** The next block of code; not open while its first line is still being written. */
  #nextFence(isWhole: boolean): { start: number; end: number; signs: string; isOpen: boolean } | null {
    const found = FENCE.exec(this.#isLineStart ? this.#text : ` ${this.#text}`);
    if (found === null) return null;
    const start = found.index - (this.#isLineStart ? 0 : 1);
    const [whole, signs = "", info = "", newline] = found;
    // On one line it is code within the text.
    if (start < 0 || info.length > INFO_CHARACTERS_MAX || (signs.startsWith("`") && info.includes("`"))) return null;
    const isOpen = newline !== "" || isWhole;
    return { start, end: isOpen ? start + whole.length : start, signs, isOpen };
  }

  /** Drops the code that is there; true if its end was among it. */
  #leaveFence(signs: string): boolean {
    const close = new RegExp(`^ {0,3}\\${signs[0]}{${signs.length},}[ \\t]*\\n`, "m").exec(this.#text);
    if (close === null) {
      const line = this.#text.slice(this.#text.lastIndexOf("\n") + 1);
      this.#text = line.length <= INFO_CHARACTERS_MAX && /^ {0,3}([`~]|$)/.test(line) ? line : NO_SIGNS;
      return false;
    }
    this.#text = this.#text.slice(close.index + close[0].length);
    this.#fence = null;
    this.#isLineStart = true;
    return true;
  }

  /** Cuts what is complete; gives what is not. */
  #cutProse(prose: string, isWhole: boolean, cut: string[]): string {
    let rest = prose;
    for (let end = this.#nextEnd(rest); end > 0; end = this.#nextEnd(rest)) {
      this.#speak(rest.slice(0, end), cut);
      rest = rest.slice(end);
    }
    if (!isWhole) return rest;
    this.#speak(rest, cut);
    return "";
  }

  #speak(piece: string, cut: string[]): void {
    if (piece !== "") this.#isLineStart = piece.endsWith("\n");
    const words = spokenWords(piece);
    if (words === "") return;
    cut.push(words);
    this.#isFirst = false;
  }

  /** Where the first sentence ends; 0 while none does. */
  #nextEnd(text: string): number {
    const shortest = this.#isFirst ? 1 : SENTENCE_CHARACTERS_MIN;
    const end = sentenceEnd(text.slice(0, 2 * SENTENCE_CHARACTERS_MAX), shortest);
    if (end > 0 && end <= SENTENCE_CHARACTERS_MAX) return end;
    return text.length > SENTENCE_CHARACTERS_MAX ? forcedEnd(text) : 0;
  }
}

function sentenceEnd(text: string, shortest: number): number {
  for (const { index, segment } of sentences.segment(text)) {
    const end = index + segment.length;
    const [said, rest] = [text.slice(0, end), text.slice(end)];
    if (said.trim().length >= shortest && /[\p{L}\p{N}]/u.test(said) && endsThere(said, rest)) return end;
  }
  return 0;
}

function endsThere(said: string, rest: string): boolean {
  // In lower case the line was only wrapped.
  if (said.endsWith("\n")) return isParagraphEnd(said) ? /\S/.test(rest) : /^\s*[^\s\p{Ll}]/u.test(rest);
  if (!/\s$/.test(said) && !WIDE_STOP.test(said)) return false; // The question mark of an address ends no sentence.
  if (/["'”’»)\]]\s*$/.test(said) && /^\p{Ll}/u.test(rest)) return false; // "Come in!" she said.
  return /[\p{L}\n]/u.test(rest) && !endsInAbbreviation(said);
}

function isParagraphEnd(said: string): boolean {
  const space = said.slice(said.trimEnd().length);
  return space.indexOf("\n") !== space.lastIndexOf("\n");
}

/** After a clause, else after a word, else between two characters. */
function forcedEnd(text: string): number {
  const head = text.slice(0, SENTENCE_CHARACTERS_MAX);
  const clause = [...head.matchAll(CLAUSE_END)].at(-1);
  if (clause !== undefined && clause.index >= SENTENCE_CHARACTERS_MAX / 3) return clause.index + clause[0].length;
  const space = head.search(/\s\S*$/);
  if (space > 0) return space + 1;
  return /[\uD800-\uDBFF]$/.test(head) ? head.length - 1 : head.length;
}

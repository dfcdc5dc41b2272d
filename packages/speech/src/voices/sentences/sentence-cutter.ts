import { endsInAbbreviation } from "./abbreviations.ts";
import { spokenWords } from "./spoken-words.ts";

/** Shorter sentences are spoken together with the next one, except the first: it is spoken as soon as possible. */
export const SENTENCE_CHARACTERS_MIN = 20;
/** Longer sentences are cut at a clause, a word or a character. */
export const SENTENCE_CHARACTERS_MAX = 400;

const FENCE = /(?:^|\n) {0,3}(`{3,}|~{3,})([^\n]*)(\n|$)/;
/** Limit of the text after the signs that open a code block. */
const INFO_CHARACTERS_MAX = 200;
/**
 * Replaces the dropped start of a line in a code block, so that the rest of the line cannot look like a closing fence.
 */
const NO_SIGNS = "x";
const CLAUSE_END = /[,;:](?=\s)|[，、；：،؛]| [–—-] /g;
/** Full stops of scripts without spaces, with closing quotes or brackets. */
const WIDE_STOP = /[。！？｡︒][」』）】”’]*$/;
const sentences = new Intl.Segmenter("en", { granularity: "sentence" });

/**
 * Cuts an answer into sentences to speak, while the answer is still being written. Leaves out code blocks and Markdown
 * signs. A sentence is complete when the next one has begun: until then its dot may belong to a number or an
 * abbreviation.
 */
export class SentenceCutter {
  #text = "";
  #isLineStart = true;
  /** The signs that opened the current code block; null outside of code blocks. */
  #fence: string | null = null;
  #isFirst = true;

  /** Adds text and returns the sentences that it completes. */
  push(text: string): readonly string[] {
    this.#text += text;
    return this.#cut(false);
  }

  /** Ends the text and returns the rest as sentences. New text may follow. */
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

  /** The next code block; `isOpen` is false while its first line is incomplete. */
  #nextFence(isWhole: boolean): { start: number; end: number; signs: string; isOpen: boolean } | null {
    const match = FENCE.exec(this.#isLineStart ? this.#text : ` ${this.#text}`);
    if (match === null) return null;
    const start = match.index - (this.#isLineStart ? 0 : 1);
    const [whole, signs = "", info = "", newline] = match;
    // Signs that open and close in one line mark inline code.
    if (start < 0 || info.length > INFO_CHARACTERS_MAX || (signs.startsWith("`") && info.includes("`"))) return null;
    const isOpen = newline !== "" || isWhole;
    return { start, end: isOpen ? start + whole.length : start, signs, isOpen };
  }

  /** Drops the code so far; true if the code block ended. */
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

  /** Adds the complete sentences to `cut` and returns the rest. */
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

  /** Where the first sentence ends; 0 if none is complete. */
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
    const sentence = text.slice(0, end);
    const rest = text.slice(end);
    if (sentence.trim().length >= shortest && /[\p{L}\p{N}]/u.test(sentence) && endsThere(sentence, rest)) return end;
  }
  return 0;
}

function endsThere(sentence: string, rest: string): boolean {
  // A next line that starts in lower case continues the sentence.
  if (sentence.endsWith("\n")) return isParagraphEnd(sentence) ? /\S/.test(rest) : /^\s*[^\s\p{Ll}]/u.test(rest);
  if (!/\s$/.test(sentence) && !WIDE_STOP.test(sentence)) return false; // Such as the question mark in a URL.
  if (/["'”’»)\]]\s*$/.test(sentence) && /^\p{Ll}/u.test(rest)) return false; // "Come in!" she said.
  return /[\p{L}\n]/u.test(rest) && !endsInAbbreviation(sentence);
}

function isParagraphEnd(sentence: string): boolean {
  const space = sentence.slice(sentence.trimEnd().length);
  return space.indexOf("\n") !== space.lastIndexOf("\n");
}

/** Cuts after a clause if possible, otherwise after a word, otherwise between two characters. */
function forcedEnd(text: string): number {
  const head = text.slice(0, SENTENCE_CHARACTERS_MAX);
  const clause = [...head.matchAll(CLAUSE_END)].at(-1);
  if (clause !== undefined && clause.index >= SENTENCE_CHARACTERS_MAX / 3) return clause.index + clause[0].length;
  const space = head.search(/\s\S*$/);
  if (space > 0) return space + 1;
  return /[\uD800-\uDBFF]$/.test(head) ? head.length - 1 : head.length;
}

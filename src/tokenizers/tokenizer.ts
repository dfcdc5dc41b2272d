import { setImmediate as letOthersRun } from "node:timers/promises";
import { chooseEncoding, type Encoding } from "./choose-encoding.ts";

/** Counts the tokens of texts as a family of models splits them. */
export interface Tokenizer {
  readonly encoding: Encoding;
  /** Ends early, with the count so far, when `signal` aborts. */
  count(text: string, signal: AbortSignal): Promise<number>;
}

/** Splitting takes time by the square of the longest stretch without a space, so that a text is split in pieces no longer than this. */
const PIECE_CHARS_MAX = 2048;
/** Characters between two pauses in which others run. */
const TURN_CHARS = 64 * 1024;
/** A longer text is counted up to here, and the rest taken for alike. */
const COUNTED_CHARS_MAX = 4 * 1024 * 1024;

/** The tokenizer for a model. The vocabulary, some megabytes, is read at the first use. */
export async function loadTokenizer(model: string): Promise<Tokenizer> {
  const encoding = chooseEncoding(model);
  const countPiece = await COUNTERS[encoding]();
  return {
    encoding,
    async count(text, signal) {
      const counted = text.slice(0, COUNTED_CHARS_MAX);
      let tokens = 0;
      let sincePause = 0;
      for (const piece of pieces(counted)) {
        tokens += countPiece(piece);
        sincePause += piece.length;
        if (sincePause < TURN_CHARS) continue;
        sincePause = 0;
        await letOthersRun();
        if (signal.aborted) return tokens;
      }
      return Math.ceil((tokens * text.length) / Math.max(1, counted.length));
    },
  };
}

type CountPiece = (text: string) => number;

/** What looks like a control token in a text is text: people write about models. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };

const COUNTERS: Readonly<Record<Encoding, () => Promise<CountPiece>>> = {
  o200k_base: async () => {
    const { countTokens } = await import("gpt-tokenizer/encoding/o200k_base");
    return (text) => countTokens(text, AS_TEXT);
  },
  cl100k_base: async () => {
    const { countTokens } = await import("gpt-tokenizer/encoding/cl100k_base");
    return (text) => countTokens(text, AS_TEXT);
  },
};

/** The text in order. A cut before a space costs no token, because tokens begin with theirs; without one it is made between characters. */
export function* pieces(text: string): Generator<string> {
  let start = 0;
  while (text.length - start > PIECE_CHARS_MAX) {
    const limit = start + PIECE_CHARS_MAX;
    const space = text.lastIndexOf(" ", limit);
    const isFound =
      space > start + PIECE_CHARS_MAX / 2 && /\S/.test(text.charAt(space - 1)) && /\S/.test(text.charAt(space + 1));
    const cut = isFound ? space : isHighSurrogate(text.charCodeAt(limit - 1)) ? limit - 1 : limit;
    yield text.slice(start, cut);
    start = cut;
  }
  if (start < text.length) yield text.slice(start);
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

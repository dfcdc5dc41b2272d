import { Slices } from "@antiphon/base/limits/slices.ts";
import { type Encoding, readVocabulary } from "./vocabulary.ts";

/**
 * Texts are cut into pieces of at most this length, because the time to tokenize grows with the square of the longest
 * stretch without a space.
 */
const PIECE_CHARS_MAX = 256;

/**
 * The tokens of several texts, each counted alone. Ends early, with the count so far, when `signal` aborts. The first
 * call for an encoding reads its vocabulary, some megabytes, and blocks the thread for about a tenth of a second.
 */
export async function countTexts(encoding: Encoding, texts: Iterable<string>, signal: AbortSignal): Promise<number> {
  const countPiece = await counterFor(encoding);
  const slices = new Slices();
  let tokens = 0;
  for (const text of texts) {
    for (const piece of pieces(text)) {
      tokens += countPiece(piece);
      if (!slices.isOver) continue;
      await slices.next();
      if (signal.aborted) return tokens;
    }
  }
  return tokens;
}

/** Counts the tokens of a short text: the time grows with the square of its longest stretch without a space. */
export type CountPiece = (text: string) => number;

/** A control token in a text counts as plain text, because people write about models. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };

/**
 * Size of the library's word cache. A full cache makes each new word as slow as the cache is large, so it is small but
 * serves repeated words.
 */
const WORDS_CACHED_MAX = 256;

const counters = new Map<Encoding, Promise<CountPiece>>();

/** Reads the vocabulary on the first call, which blocks the thread for about a tenth of a second. */
export function counterFor(encoding: Encoding): Promise<CountPiece> {
  const earlier = counters.get(encoding);
  if (earlier !== undefined) return earlier;
  const counter = makeCounter(encoding);
  counters.set(encoding, counter);
  counter.catch(() => counters.delete(encoding)); // The next call retries.
  return counter;
}

async function makeCounter(encoding: Encoding): Promise<CountPiece> {
  const tokens = await readVocabulary(encoding);
  const { GptEncoding } = await import("gpt-tokenizer/GptEncoding");
  const library = GptEncoding.getEncodingApi(encoding, () => tokens);
  library.setMergeCacheSize(WORDS_CACHED_MAX);
  return (text) => library.countTokens(text, AS_TEXT);
}

/**
 * Cuts the text into pieces, in order. A cut before a space adds no token, because tokens begin with their space.
 * Without a space, the cut is between two characters.
 */
export function* pieces(text: string): Generator<string> {
  let start = 0;
  while (text.length - start > PIECE_CHARS_MAX) {
    const limit = start + PIECE_CHARS_MAX;
    // The whole text may have no space, so the search is limited.
    const space = start + text.slice(start, limit + 1).lastIndexOf(" ");
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

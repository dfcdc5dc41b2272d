import { setImmediate as nextTurn } from "node:timers/promises";
import { Slices } from "../base/limits/slices.ts";
import { type Encoding, readVocabulary } from "./vocabulary.ts";

/** Counts tokens as a family of models does. */
export interface Tokenizer {
  readonly encoding: Encoding;
  /** Counts several texts as if they were one. Ends early, with the count so far, when `signal` aborts. */
  count(texts: readonly string[], signal: AbortSignal): Promise<number>;
}

/**
 * Texts are cut into pieces of at most this length, because the time to tokenize grows with the square of the longest
 * stretch without a space.
 */
const PIECE_CHARS_MAX = 256;
/** Longer texts are counted up to here; the rest is estimated at the same ratio. */
const COUNTED_CHARS_MAX = 1024 * 1024;

/** Loads the tokenizer for a model. The first call reads the vocabulary, some megabytes. */
export async function loadTokenizer(model: string): Promise<Tokenizer> {
  const encoding = chooseEncoding(model);
  const countPiece = await counterFor(encoding);
  return {
    encoding,
    async count(texts, signal) {
      const slices = new Slices();
      let [tokens, counted] = [0, 0];
      for (const text of texts) {
        for (const piece of pieces(text.slice(0, COUNTED_CHARS_MAX - counted))) {
          tokens += countPiece(piece);
          counted += piece.length;
          if (!slices.isOver) continue;
          await slices.next();
          if (signal.aborted) return tokens;
        }
      }
      const characters = texts.reduce((sum, { length }) => sum + length, 0);
      return Math.ceil((tokens * characters) / Math.max(1, counted));
    },
  };
}

type CountPiece = (text: string) => number;

/** A control token in a text counts as plain text, because people write about models. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };

/**
 * Size of the library's word cache. A full cache makes each new word as slow as the cache is large, so it is small but
 * serves repeated words.
 */
const WORDS_CACHED_MAX = 256;

const counters = new Map<Encoding, Promise<CountPiece>>();

function counterFor(encoding: Encoding): Promise<CountPiece> {
  const known = counters.get(encoding);
  if (known !== undefined) return known;
  const made = makeCounter(encoding);
  counters.set(encoding, made);
  made.catch(() => counters.delete(encoding)); // The next call tries again.
  return made;
}

async function makeCounter(encoding: Encoding): Promise<CountPiece> {
  const tokens = await readVocabulary(encoding);
  const { GptEncoding } = await import("gpt-tokenizer/GptEncoding");
  await nextTurn(); // The constructor takes a slice of its own.
  const library = GptEncoding.getEncodingApi(encoding, () => tokens);
  library.setMergeCacheSize(WORDS_CACHED_MAX);
  await nextTurn();
  return (text) => library.countTokens(text, AS_TEXT);
}

/**
 * Cuts the text into pieces, in order. A cut before a space adds no token, because tokens begin with their space.
 * Without a space the cut is between two characters.
 */
export function* pieces(text: string): Generator<string> {
  let start = 0;
  while (text.length - start > PIECE_CHARS_MAX) {
    const limit = start + PIECE_CHARS_MAX;
    // Not searched in the whole text, which may have no space.
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

/** Encodings by the start of the model's name, without a path such as `openai/`. The first match counts. */
const FAMILIES: readonly (readonly [RegExp, Encoding])[] = [
  [/^(?:gpt-4o|chatgpt-4o|gpt-4\.[15]|gpt-[5-9]|gpt-oss|o[1-9](?:$|-)|codex|computer-use)/i, "o200k_base"],
  [/^(?:gpt-4|gpt-3\.5|text-embedding-3|text-embedding-ada)/i, "cl100k_base"],
  // The vocabularies of these models extend cl100k_base.
  [/^(?:meta-)?llama-?[34]|^qwen|^qwq|^deepseek-r1-distill|^phi-?4/i, "cl100k_base"],
];

/** For unknown models. Recent vocabularies are about as large, so counts are close. */
const NEAREST: Encoding = "o200k_base";

/** The encoding of a model, or the nearest one if its own is not available. */
export function chooseEncoding(model: string): Encoding {
  const name = model.slice(model.lastIndexOf("/") + 1);
  return FAMILIES.find(([family]) => family.test(name))?.[1] ?? NEAREST;
}

import { Slices } from "../base/limits/slices.ts";

/** Counts the tokens of texts as a family of models splits them. */
export interface Tokenizer {
  readonly encoding: Encoding;
  /** Counts several texts as if they were one. Ends early, with the count so far, when `signal` aborts. */
  count(texts: readonly string[], signal: AbortSignal): Promise<number>;
}

/**
 * Splitting takes time by the square of the longest stretch without a space, so that a text is split in pieces no
 * longer than this.
 */
const PIECE_CHARS_MAX = 256;
/** Longer texts are counted up to here, and the rest taken for alike. */
const COUNTED_CHARS_MAX = 1024 * 1024;

/** The tokenizer for a model. The vocabulary, some megabytes, is read at the first use. */
export async function loadTokenizer(model: string): Promise<Tokenizer> {
  const encoding = chooseEncoding(model);
  const countPiece = await COUNTERS[encoding]();
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

/** What looks like a control token in a text is text: people write about models. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };

/**
 * Once the library's cache of words is full, each new word takes time by its size; this one serves what repeats itself
 * and costs little.
 */
const WORDS_CACHED_MAX = 256;

const COUNTERS: Readonly<Record<Encoding, () => Promise<CountPiece>>> = {
  o200k_base: async () => {
    const { countTokens, setMergeCacheSize } = await import("gpt-tokenizer/encoding/o200k_base");
    setMergeCacheSize(WORDS_CACHED_MAX);
    return (text) => countTokens(text, AS_TEXT);
  },
  cl100k_base: async () => {
    const { countTokens, setMergeCacheSize } = await import("gpt-tokenizer/encoding/cl100k_base");
    setMergeCacheSize(WORDS_CACHED_MAX);
    return (text) => countTokens(text, AS_TEXT);
  },
};

/**
 * The text in order. A cut before a space costs no token, because tokens begin with theirs; without one it is made
 * between characters.
 */
export function* pieces(text: string): Generator<string> {
  let start = 0;
  while (text.length - start > PIECE_CHARS_MAX) {
    const limit = start + PIECE_CHARS_MAX;
    const space = start + text.slice(start, limit + 1).lastIndexOf(" "); // Not in the whole text: it may have none.
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

/** The byte-pair encodings that are kept here. */
type Encoding = "o200k_base" | "cl100k_base";

/** By the beginning of a model's name, after any path such as `openai/`; the first that fits. */
const FAMILIES: readonly (readonly [RegExp, Encoding])[] = [
  [/^(?:gpt-4o|chatgpt-4o|gpt-4\.[15]|gpt-[5-9]|gpt-oss|o[1-9](?:$|-)|codex|computer-use)/i, "o200k_base"],
  [/^(?:gpt-4|gpt-3\.5|text-embedding-3|text-embedding-ada)/i, "cl100k_base"],
  // These began from cl100k_base and added to it.
  [/^(?:meta-)?llama-?[34]|^qwen|^qwq|^deepseek-r1-distill|^phi-?4/i, "cl100k_base"],
];

/** Vocabularies of recent models are about as large as this one, so their counts are near. */
const NEAREST: Encoding = "o200k_base";

/** The encoding of a model, or, for a family whose own is not kept here, the nearest. */
export function chooseEncoding(model: string): Encoding {
  const name = model.slice(model.lastIndexOf("/") + 1);
  return FAMILIES.find(([family]) => family.test(name))?.[1] ?? NEAREST;
}

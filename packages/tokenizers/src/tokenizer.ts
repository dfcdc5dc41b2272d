import { CountThread } from "./count-thread.ts";
import type { Encoding } from "./vocabulary.ts";

/** Counts tokens like a family of models. */
export interface Tokenizer {
  readonly encoding: Encoding;
  /** Counts several texts as if they were one. Ends early, with the count so far, when `signal` aborts. */
  count(texts: readonly string[], signal: AbortSignal): Promise<number>;
}

/** Longer texts are counted up to here; the rest is estimated at the same ratio. */
const COUNTED_CHARS_MAX = 1024 * 1024;

const thread = new CountThread();

/** The tokenizer of a model. Its first count reads the vocabulary, some megabytes, in a thread. */
export function tokenizerFor(model: string): Tokenizer {
  const encoding = chooseEncoding(model);
  return {
    encoding,
    async count(texts, signal) {
      const lengths: number[] = [];
      let text = "";
      let characters = 0;
      for (const each of texts) {
        characters += each.length;
        if (text.length === COUNTED_CHARS_MAX) continue;
        const piece = each.slice(0, COUNTED_CHARS_MAX - text.length);
        text += piece;
        lengths.push(piece.length);
      }
      if (text === "" || signal.aborted) return 0;
      const tokens = await thread.count({ encoding, text, lengths: Uint32Array.from(lengths) }, signal);
      return signal.aborted ? tokens : Math.ceil((tokens * characters) / text.length);
    },
  };
}

/** Encodings by the beginning of the model's name, without a path such as `openai/`. The first match applies. */
const FAMILIES: readonly (readonly [RegExp, Encoding])[] = [
  [/^(?:gpt-4o|chatgpt-4o|gpt-4\.[15]|gpt-[5-9]|gpt-oss|o[1-9](?:$|-)|codex|computer-use)/i, "o200k_base"],
  [/^(?:gpt-4|gpt-3\.5|text-embedding-3|text-embedding-ada)/i, "cl100k_base"],
  // The vocabularies of these models extend cl100k_base.
  [/^(?:meta-)?llama-?[34]|^qwen|^qwq|^deepseek-r1-distill|^phi-?4/i, "cl100k_base"],
];

/** For unknown models. Recent vocabularies have similar sizes, so counts are close. */
const NEAREST: Encoding = "o200k_base";

/** The encoding of a model, or the nearest available one. */
export function chooseEncoding(model: string): Encoding {
  const name = model.slice(model.lastIndexOf("/") + 1);
  return FAMILIES.find(([family]) => family.test(name))?.[1] ?? NEAREST;
}

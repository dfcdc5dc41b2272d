/** The byte-pair encodings that are kept here. */
export type Encoding = "o200k_base" | "cl100k_base";

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

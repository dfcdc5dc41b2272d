import { distance } from "fastest-levenshtein";

/** The maximum of mistyped letters in a word; in a long word, this share. */
const MISTYPED_MAX = 2;
const MISTYPED_SHARE_MAX = 0.3;
const COMPARED_CHARACTERS_MAX = 64;

/** The word most similar to the written one; null if none is similar. */
export function nearestWord(text: string, words: readonly string[]): string | null {
  if (text.length > COMPARED_CHARACTERS_MAX) return null;
  const lowerCase = text.toLowerCase();
  const ranking = words.map((word) => ({ word, mistyped: distance(lowerCase, word.toLowerCase()) }));
  const [best] = ranking.toSorted((one, other) => one.mistyped - other.mistyped);
  const mistypedMax = Math.max(MISTYPED_MAX, Math.floor(text.length * MISTYPED_SHARE_MAX));
  return best !== undefined && best.mistyped <= mistypedMax && best.mistyped < text.length ? best.word : null;
}

/**
 * The model with another tag, such as `llama3.2:1b` for `llama3.2`, otherwise the most similar one; null if none is
 * similar.
 */
export function nearestModel(model: string, names: readonly string[]): string | null {
  const family = familyOf(model);
  return names.find((name) => familyOf(name) === family) ?? nearestWord(model, names);
}

function familyOf(name: string): string {
  return name.toLowerCase().replace(/:.*$/, "");
}

/** A tool's result, shortened for a model with a small window. */
export interface ShortResult {
  readonly text: string;
  /** Whole sentences for the model: how much was left out, and how to get it. */
  readonly notice: string;
}

/** Preferred ends of a text, best first, and the share of the room that each must fill. */
const ENDS = [
  { mark: "\n\n", filled: 0.5 },
  { mark: "\n", filled: 0.7 },
  { mark: ". ", filled: 0.8 },
  { mark: " ", filled: 0.9 },
] as const;
/** How many characters of a match belong to the text before the cut. */
const SENTENCE_END_CHARACTERS = 1;

/**
 * The best index to end a text of at most `charactersMax` characters: after a paragraph, a line, a sentence or a word.
 * Never within a character.
 */
export function cutPlace(text: string, charactersMax: number): number {
  if (text.length <= charactersMax) return text.length;
  for (const { mark, filled: share } of ENDS) {
    const place = text.lastIndexOf(mark, charactersMax - 1);
    if (place > 0 && place >= charactersMax * share) return mark === ". " ? place + SENTENCE_END_CHARACTERS : place;
  }
  const isHalf = /[\uD800-\uDBFF]/.test(text.charAt(charactersMax - 1));
  return Math.max(0, isHalf ? charactersMax - 1 : charactersMax);
}

/** The beginning of a tool's result, and a sentence about the missing rest. */
export function cutResult(text: string, charactersMax: number): ShortResult {
  const end = cutPlace(text, charactersMax);
  const notice = `Only the first ${end} of ${text.length} characters are shown, because the model's window is small; ${text.length - end} were left out. To see more, ask for less at once, such as a part, a range or a page.`;
  return { text: text.slice(0, end), notice };
}

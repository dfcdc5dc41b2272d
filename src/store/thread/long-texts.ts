/**
 * Long texts travel to the store thread in pieces, ahead of the call that contains them: a message is copied in one go,
 * about 1 ms per MB, while the loop waits.
 */

/** A text of more characters is sent ahead, */
export const LONG_CHARACTERS = 64 * 1024;
/** in pieces of at most this many. A turn of the loop sends about as many. */
export const PIECE_CHARACTERS = 512 * 1024;

/** Stands in a call for a text that was sent before. */
interface SentText {
  readonly sentText: number;
}

/** A copy of plain data in which long texts are replaced by their place in `texts`, to which they are added. */
export function withoutLongTexts(value: unknown, texts: string[]): unknown {
  if (typeof value === "string") return value.length <= LONG_CHARACTERS ? value : placeOf(value, texts);
  if (Array.isArray(value)) return value.map((element: unknown) => withoutLongTexts(element, texts));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutLongTexts(member, texts)]));
}

function placeOf(text: string, texts: string[]): SentText {
  return { sentText: texts.push(text) - 1 };
}

/** Puts the texts back. Changes `value` itself, which must be a list or an object that nothing else uses. */
export function restoreLongTexts(value: object, texts: readonly string[]): void {
  for (const [name, member] of Object.entries(value)) {
    if (typeof member !== "object" || member === null) continue;
    if (isSentText(member)) Object.assign(value, { [name]: texts[member.sentText] });
    else restoreLongTexts(member, texts);
  }
}

function isSentText(value: object): value is SentText {
  return "sentText" in value;
}

/** The pieces of a text, in order. */
export function* piecesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length; start += PIECE_CHARACTERS) yield text.slice(start, start + PIECE_CHARACTERS);
}

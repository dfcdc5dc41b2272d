/**
 * Long texts and long lists are sent to the store thread in pieces, ahead of their call: a message is copied in one go,
 * which blocks the loop for about 1 ms per MB or per thousand objects.
 */

/** Texts with more characters are sent ahead, */
export const LONG_CHARACTERS = 64 * 1024;
/** in pieces of at most this many. A turn of the loop sends about as many. */
export const PIECE_CHARACTERS = 512 * 1024;
/** Lists with more elements are sent ahead, in pieces of at most as many. */
export const LONG_ELEMENTS = 256;

/** A reference in a call to a text that was sent before. */
interface SentText {
  readonly sentText: number;
}

/** The same for a list. */
interface SentList {
  readonly sentList: number;
}

/** Values sent ahead of a call, in the order of their numbers. */
export interface SentAhead {
  readonly texts: string[];
  readonly lists: (readonly unknown[])[];
}

/**
 * Replaces long texts and lists by their places in `ahead`, and adds them there. A list in `ahead` still has its long
 * texts. A value without long parts is returned unchanged.
 */
export function withoutLong(value: unknown, ahead: SentAhead): unknown {
  if (typeof value === "string")
    return value.length <= LONG_CHARACTERS ? value : ({ sentText: ahead.texts.push(value) - 1 } satisfies SentText);
  if (typeof value !== "object" || value === null) return value;
  if (!Array.isArray(value)) return membersWithoutLong(value, ahead);
  if (value.length > LONG_ELEMENTS) return { sentList: ahead.lists.push(value) - 1 } satisfies SentList;
  return value.map((element: unknown) => withoutLong(element, ahead));
}

function membersWithoutLong(value: object, ahead: SentAhead): unknown {
  let changes: Map<string, unknown> | null = null;
  for (const [name, member] of Object.entries(value)) {
    const short = withoutLong(member, ahead);
    if (short === member) continue;
    changes ??= new Map(Object.entries(value));
    changes.set(name, short);
  }
  return changes === null ? value : Object.fromEntries(changes);
}

/** Restores texts and lists. Changes `value` itself, which must be a list or an object that nothing else uses. */
export function restoreLong(value: object, ahead: SentAhead): void {
  for (const [name, member] of Object.entries(value)) {
    if (typeof member !== "object" || member === null) continue;
    if (isSentText(member)) Object.assign(value, { [name]: ahead.texts[member.sentText] });
    else if (isSentList(member)) {
      const list = ahead.lists[member.sentList] ?? [];
      restoreLong(list, ahead);
      Object.assign(value, { [name]: list });
    } else restoreLong(member, ahead);
  }
}

function isSentText(value: object): value is SentText {
  return "sentText" in value;
}

function isSentList(value: object): value is SentList {
  return "sentList" in value;
}

/** The pieces of a text, in order. */
export function* piecesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length; start += PIECE_CHARACTERS) yield text.slice(start, start + PIECE_CHARACTERS);
}

/** The pieces of a list, in order, without long texts and lists, which are added to `ahead`. */
export function* elementsOf(list: readonly unknown[], ahead: SentAhead): Generator<readonly unknown[]> {
  let piece: unknown[] = [];
  let characters = 0;
  for (const element of list) {
    const short = withoutLong(element, ahead);
    piece.push(short);
    characters += charactersIn(short);
    if (piece.length < LONG_ELEMENTS && characters < PIECE_CHARACTERS) continue;
    yield piece;
    piece = [];
    characters = 0;
  }
  if (piece.length > 0) yield piece;
}

function charactersIn(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce<number>((sum, member) => sum + charactersIn(member), 0);
}

import type { Snapshot } from "./viewer.fixture.ts";

const LINES_MAX = 12;
const LINE_LETTERS_MAX = 160;
const LETTERS_BEFORE = 60;

/** Describes every difference between the page of the reference's stream and that of ours. Empty if they are equal. */
export function differencesOfSnapshots(reference: Snapshot, ours: Snapshot): string[] {
  return [
    ...(reference.isSettled ? [] : ["The page of the reference's stream did not come to rest."]),
    ...(ours.isSettled ? [] : ["The page of our stream did not come to rest."]),
    ...differenceOfTexts("DOM", reference.dom, ours.dom),
    ...differenceOfTexts("accessibility tree", reference.accessibility, ours.accessibility),
    ...(reference.screenshot.equals(ours.screenshot) ? [] : ["Screenshot: other pixels."]),
  ];
}

/** Returns the lines from the first to the last difference. */
export function differenceOfTexts(what: string, reference: string, ours: string): string[] {
  if (reference === ours) return [];
  const [left, right] = [reference.split("\n"), ours.split("\n")];
  const shorter = Math.min(left.length, right.length);
  let start = 0;
  while (start < shorter && left[start] === right[start]) start += 1;
  let end = 0;
  while (end < shorter - start && left.at(-1 - end) === right.at(-1 - end)) end += 1;
  const from = Math.max(0, sharedLetters(left[start] ?? "", right[start] ?? "") - LETTERS_BEFORE);
  const shown = (lines: readonly string[], sign: string): string[] => {
    const parted = lines.slice(start, lines.length - end).map((line) => `${sign} ${shorten(line, from)}`);
    return parted.length > LINES_MAX ? [...parted.slice(0, LINES_MAX), `${sign} … ${parted.length} lines`] : parted;
  };
  return [`${what}, from line ${start + 1} (- reference, + ours):`, ...shown(left, "-"), ...shown(right, "+")];
}

function sharedLetters(one: string, other: string): number {
  let count = 0;
  while (count < one.length && one[count] === other[count]) count += 1;
  return count;
}

/** Returns a short line whole, and of a longer one the part around the first difference. */
function shorten(line: string, from: number): string {
  if (line.length <= LINE_LETTERS_MAX) return line;
  return `${from > 0 ? "…" : ""}${line.slice(from, from + LINE_LETTERS_MAX)}${from + LINE_LETTERS_MAX < line.length ? "…" : ""}`;
}

import type { Snapshot } from "./viewer.fixture.ts";

const LINES_MAX = 12;

/** Everything in which the page of our stream is not the page of the reference's, to be read; empty: nobody can tell. */
export function differencesOfSnapshots(reference: Snapshot, ours: Snapshot): string[] {
  return [
    ...(reference.isSettled ? [] : ["The page of the reference's stream did not come to rest."]),
    ...(ours.isSettled ? [] : ["The page of our stream did not come to rest."]),
    ...differenceOfTexts("DOM", reference.dom, ours.dom),
    ...differenceOfTexts("accessibility tree", reference.accessibility, ours.accessibility),
    ...(reference.screenshot.equals(ours.screenshot) ? [] : ["Screenshot: other pixels."]),
  ];
}

/** The lines between the first and the last that differ. */
export function differenceOfTexts(what: string, reference: string, ours: string): string[] {
  if (reference === ours) return [];
  const [left, right] = [reference.split("\n"), ours.split("\n")];
  const shorter = Math.min(left.length, right.length);
  let start = 0;
  while (start < shorter && left[start] === right[start]) start += 1;
  let end = 0;
  while (end < shorter - start && left.at(-1 - end) === right.at(-1 - end)) end += 1;
  const shown = (lines: readonly string[], sign: string): string[] => {
    const parted = lines.slice(start, lines.length - end).map((line) => `${sign} ${line}`);
    return parted.length > LINES_MAX ? [...parted.slice(0, LINES_MAX), `${sign} … ${parted.length} lines`] : parted;
  };
  return [`${what}, from line ${start + 1} (- reference, + ours):`, ...shown(left, "-"), ...shown(right, "+")];
}

import { readComments } from "./comments.ts";
import type { TextFile } from "./text-file.ts";

const COLUMNS_MAX = 120;

/** Finds comment lines that are too long. The formatter takes care of code. */
export function longCommentLines({ path, text }: TextFile): string[] {
  const lines = text.split("\n");
  if (lines.every(isShort)) return [];
  const commented = new Set(readComments(path, text).flatMap(({ lineFirst, lineLast }) => range(lineFirst, lineLast)));
  return lines.flatMap((line, index) => (isShort(line) || !commented.has(index + 1) ? [] : [`${path}:${index + 1}`]));
}

function isShort(line: string): boolean {
  return line.length <= COLUMNS_MAX || [...line].length <= COLUMNS_MAX;
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

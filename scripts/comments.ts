import { parseSync } from "oxc-parser";

export interface Comment {
  /** With its marks. */
  readonly text: string;
  readonly lineFirst: number;
  readonly lineLast: number;
}

/** The comments of TypeScript or JavaScript; texts that look like comments inside strings are none. */
export function readComments(path: string, code: string): Comment[] {
  const lineAt = (place: number): number => code.slice(0, place).split("\n").length;
  return parseSync(path, code).comments.map(({ start, end }) => ({
    text: code.slice(start, end),
    lineFirst: lineAt(start),
    lineLast: lineAt(end),
  }));
}

import { parseSync } from "oxc-parser";

export interface Comment {
  /** Includes the comment marks. */
  readonly text: string;
  readonly lineFirst: number;
  readonly lineLast: number;
}

/** The comments of TypeScript or JavaScript code. Ignores text in strings that looks like a comment. */
export function readComments(path: string, code: string): Comment[] {
  const lineAt = (place: number): number => code.slice(0, place).split("\n").length;
  return parseSync(path, code).comments.map(({ start, end }) => ({
    text: code.slice(start, end),
    lineFirst: lineAt(start),
    lineLast: lineAt(end),
  }));
}

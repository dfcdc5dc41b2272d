/** A stretch of text that both sides have, or only one of them. */
export interface Stretch {
  readonly in: "both" | "left" | "right";
  readonly text: string;
}

/** Texts of more words are compared by lines. */
const WORDS_MAX = 1_500;
/** Texts with more lines than this are not compared. */
const LINES_MAX = 3_000;

/** The differences between two texts, by words. */
export function diffTexts(left: string, right: string): Stretch[] {
  const split = (text: string): string[] => text.match(/\s+|[^\s]+/g) ?? [];
  const leftWords = split(left);
  const rightWords = split(right);
  if (Math.max(leftWords.length, rightWords.length) <= WORDS_MAX) return diffLists(leftWords, rightWords);
  const lines = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const leftLines = lines(left);
  const rightLines = lines(right);
  if (Math.max(leftLines.length, rightLines.length) <= LINES_MAX) return diffLists(leftLines, rightLines);
  return left === right
    ? [{ in: "both", text: left }]
    : [
        { in: "left", text: left },
        { in: "right", text: right },
      ];
}

/** The longest common subsequence tells what both have. */
function diffLists(left: readonly string[], right: readonly string[]): Stretch[] {
  const width = right.length + 1;
  const lengths = new Uint16Array((left.length + 1) * width);
  for (let row = left.length - 1; row >= 0; row--)
    for (let column = right.length - 1; column >= 0; column--)
      lengths[row * width + column] =
        left[row] === right[column]
          ? (lengths[(row + 1) * width + column + 1] ?? 0) + 1
          : Math.max(lengths[(row + 1) * width + column] ?? 0, lengths[row * width + column + 1] ?? 0);
  const stretches: { in: Stretch["in"]; text: string }[] = [];
  const add = (where: Stretch["in"], text: string): void => {
    const last = stretches.at(-1);
    if (last?.in === where) last.text += text;
    else stretches.push({ in: where, text });
  };
  let row = 0;
  let column = 0;
  while (row < left.length || column < right.length) {
    const one = left[row];
    const other = right[column];
    if (one !== undefined && one === other) {
      add("both", one);
      row += 1;
      column += 1;
    } else if (
      one !== undefined &&
      (other === undefined || (lengths[(row + 1) * width + column] ?? 0) >= (lengths[row * width + column + 1] ?? 0))
    ) {
      add("left", one);
      row += 1;
    } else {
      add("right", other ?? "");
      column += 1;
    }
  }
  return stretches;
}

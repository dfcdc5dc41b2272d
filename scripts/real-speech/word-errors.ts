const UNITS = [
  ..."zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen".split(" "),
  ..."sixteen seventeen eighteen nineteen".split(" "),
];
const TENS = ["", "", ..."twenty thirty forty fifty sixty seventy eighty ninety".split(" ")];

/** Different spellings of the same words. */
const SPELLINGS: readonly (readonly [RegExp, string])[] = [
  [/[’‘]/g, "'"],
  [/\*/g, " star "],
  [/#/g, " pound "],
  [/\bmr\b/g, "mister"],
  [/\bok\b/g, "okay"],
  [/\bcan(?:'t|not)\b/g, "can not"],
  [/n't\b/g, " not"],
  [/\bi'm\b/g, "i am"],
  [/'re\b/g, " are"],
  [/'ve\b/g, " have"],
  [/\b(that|it|there)'s\b/g, "$1 is"],
  [/'/g, ""],
];

/** Normalises a text to spoken words: lower case, no punctuation, full forms, numbers below a hundred in words. */
export function spokenWords(text: string): string[] {
  let plain = text.toLowerCase();
  for (const [spelling, meaning] of SPELLINGS) plain = plain.replace(spelling, meaning);
  return plain
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")
    .flatMap((word) => (/^\d{1,2}$/.test(word) ? numberWords(Number(word)) : [word]));
}

function numberWords(value: number): string[] {
  const unit = UNITS[value];
  if (unit !== undefined) return [unit];
  const rest = value % 10 === 0 ? [] : [UNITS[value % 10] ?? ""];
  return [TENS[Math.floor(value / 10)] ?? "", ...rest];
}

/**
 * Returns the minimum number of words to change, delete or insert to turn one list into the other. A word that one side
 * writes as two is not an error.
 */
export function wordErrors(said: readonly string[], heard: readonly string[]): number {
  const costs = [Array.from({ length: heard.length + 1 }, (_, index) => index)];
  for (let row = 1; row <= said.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= heard.length; column += 1) {
      const before = (rows: number, columns: number): number =>
        (rows === 0 ? current : costs[row - rows])?.[column - columns] ?? Number.POSITIVE_INFINITY;
      const isSame = said[row - 1] === heard[column - 1];
      const isOneWordMore = pair(said, row) === heard[column - 1];
      const isOneWordLess = pair(heard, column) === said[row - 1];
      current.push(
        Math.min(
          before(1, 1) + (isSame ? 0 : 1),
          before(1, 0) + 1,
          before(0, 1) + 1,
          isOneWordMore ? before(2, 1) : Number.POSITIVE_INFINITY,
          isOneWordLess ? before(1, 2) : Number.POSITIVE_INFINITY,
        ),
      );
    }
    costs.push(current);
  }
  return costs.at(-1)?.at(-1) ?? 0;
}

/** Joins the word at this index with the one before it. */
function pair(words: readonly string[], end: number): string | null {
  return end < 2 ? null : `${words[end - 2]}${words[end - 1]}`;
}

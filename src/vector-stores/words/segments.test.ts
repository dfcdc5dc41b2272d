import { expect, test } from "vitest";
import { BREAK, segmentsOf } from "./segments.ts";

const SEGMENTER = new Intl.Segmenter("und", { granularity: "word" });
/** Characters that stand in words, between them, or join them, some of them not of ASCII. */
const CHARACTERS = ["a", "Z", "0", "9", ..."_.,;:'\"-/ \t\n\r@\x00", "é", "\u0301", "日", "本", "“", "—"];
const TEXTS = 20_000;
const LENGTH_MAX = 12;

/** The same numbers in each run. */
function* numbersBelow(max: number): Generator<number, never> {
  for (let seed = 7; ; ) {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    yield Math.floor((seed / 2 ** 32) * max);
  }
}

/** The words and marks, as the runtime finds them in each line. */
function expectedSegments(text: string): readonly string[] {
  return text.split("\n").flatMap((line) => [...[...SEGMENTER.segment(line)].map(shown), BREAK]);
}

function shown({ segment, isWordLike }: Intl.SegmentData): string {
  return isWordLike === true || segment === "-" || segment === "/" ? segment : BREAK;
}

/** Without a break after another or at the end: how many there are says nothing. */
function onceEach(segments: readonly string[]): readonly string[] {
  return segments.filter((segment, index) => segment !== BREAK || (segments[index + 1] ?? BREAK) !== BREAK);
}

test("words end where the segmenter of the runtime ends them, in lines of ASCII and in others", () => {
  const numbers = numbersBelow(CHARACTERS.length);
  for (let count = 0; count < TEXTS; count++) {
    const text = Array.from({ length: 1 + (count % LENGTH_MAX) }, () => CHARACTERS[numbers.next().value]).join("");
    const segments = [...segmentsOf(text)].flat();
    expect(onceEach(segments), JSON.stringify(text)).toEqual(onceEach(expectedSegments(text)));
  }
});

test("long lines come in parts, and their words are whole", () => {
  for (const word of ["word", "wörd"]) {
    const batches = [...segmentsOf(`${word} `.repeat(2_000))];
    expect(Math.max(...batches.map((batch) => batch.length))).toBeLessThanOrEqual(513);
    expect(batches.flat().filter((segment) => segment === word)).toHaveLength(2_000);
  }
});

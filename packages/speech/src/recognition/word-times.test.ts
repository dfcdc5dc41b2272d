import { expect, test } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import type { TranscriptSegment } from "./speech-engine.ts";
import { segmentWords } from "./word-times.ts";

type Times = readonly [text: string, startMs: number, endMs: number];

function segment(startMs: number, endMs: number, ...tokens: readonly Times[]): TranscriptSegment {
  const text = tokens.map(([token]) => token).join("");
  return {
    text: text.trim(),
    startMs,
    endMs,
    details: {
      tokenIds: [],
      tokens: tokens.map(([token, start, end]) => ({ text: token, startMs: start, endMs: end, probability: 1 })),
      logProbability: 0,
      noSpeechProbability: 0,
    },
  };
}

/** Stretches as pairs of milliseconds. */
function voice(...pairs: readonly (readonly [number, number])[]) {
  return pairs.map(([startMs, endMs]) => ({ startMs, endMs }));
}

test.each([
  {
    what: "tokens are joined to words, with their punctuation",
    segment: segment(0, 2000, [" Anti", 200, 500], ["phon", 500, 700], [",", 700, 720], [" yes", 720, 1000]),
    voiced: voice([200, 1000]),
    words: ["Antiphon, 200-720", "yes 720-1000"],
  },
  {
    what: "a border moves to the pause beside it",
    segment: segment(0, 2000, [" one", 0, 700], [" two", 700, 2000]),
    voiced: voice([200, 600], [900, 1500]),
    words: ["one 200-600", "two 900-1500"],
  },
  {
    what: "a pause that is far from every border is within a word",
    segment: segment(0, 2000, [" one", 0, 400], [" two", 400, 2000]),
    voiced: voice([200, 1200], [1400, 1500]),
    words: ["one 200-400", "two 400-1500"],
  },
  {
    what: "times that cannot be are replaced by the share of the letters in the voice",
    segment: segment(0, 2700, [" three", -4000, -4000], [" one", -4000, -4000], [" four", -4000, -4000]),
    voiced: voice([500, 800], [1200, 1500], [1900, 2200]),
    words: ["three 500-800", "one 1200-1500", "four 1900-2200"],
  },
])("$what", ({ segment: given, voiced, words }) => {
  verifies("audio.transcriptions.granularities");
  const placed = segmentWords(given, voiced, "en");
  expect(placed.map(({ text, startMs, endMs }) => `${text} ${startMs}-${endMs}`)).toEqual(words);
});

test("words never run backwards", () => {
  const given = segment(0, 2000, [" a", 0, 900], [" b", 300, 800], [" c", 850, 850], [" d", 900, 1900]);
  const placed = segmentWords(given, voice([100, 700], [800, 1000], [1200, 1800]), "en");
  const times = placed.flatMap(({ startMs, endMs }) => [startMs, endMs]);
  expect(times).toEqual(times.toSorted((one, other) => one - other));
});

test("each token is a word where words have no blanks between them", () => {
  const given = segment(0, 900, ["今天", 0, 400], ["好", 400, 800], ["。", 800, 900]);
  expect(segmentWords(given, voice([0, 900]), "zh").map(({ text }) => text)).toEqual(["今天", "好。"]);
});

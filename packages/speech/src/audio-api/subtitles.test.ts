import { expect, test } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import { cuesOf, srtText, vttText } from "./subtitles.ts";

const WORD_MS = 300;

/** A segment whose words follow each other without pauses, from this time on. */
function segment(text: string, startMs = 0) {
  const words = text.split(" ").map((word, index) => ({
    text: word,
    startMs: startMs + index * WORD_MS,
    endMs: startMs + (index + 1) * WORD_MS,
  }));
  return { text, words };
}

test("a cue has two lines of 42 characters, and the words go on in the next cue", () => {
  verifies("audio.transcriptions.subtitles");
  const words = Array.from({ length: 60 }, (_, index) => "x".repeat(1 + (index % 9)));
  const cues = cuesOf([segment(words.join(" "))]);
  expect(cues.length).toBeGreaterThan(2);
  expect(cues.flatMap(({ lines }) => lines).join(" ")).toBe(words.join(" "));
  for (const { lines } of cues) {
    expect(lines.length).toBeLessThanOrEqual(2);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(42);
  }
});

test("a word that is longer than a line stays whole", () => {
  verifies("audio.transcriptions.subtitles");
  const long = "x".repeat(50);
  expect(cuesOf([segment(`a ${long} b`)]).map(({ lines }) => lines)).toEqual([["a", long], ["b"]]);
});

test("cues never overlap, even if segments do", () => {
  verifies("audio.transcriptions.subtitles");
  const cues = cuesOf([segment("one two three"), segment("four five", 500), segment("six", 450)]);
  expect(cues).toEqual([
    { startMs: 0, endMs: 900, lines: ["one two three"] },
    { startMs: 900, endMs: 1100, lines: ["four five"] },
    { startMs: 1100, endMs: 1300, lines: ["six"] },
  ]);
});

test("a cue ends at a long silence", () => {
  const one = segment("one");
  const two = segment("two", 5000);
  const cues = cuesOf([{ text: "one two", words: [...one.words, ...two.words] }]);
  expect(cues.map(({ startMs, endMs }) => [startMs, endMs])).toEqual([
    [0, 300],
    [5000, 5300],
  ]);
});

test("words of a language without blanks are joined as in the text", () => {
  const words = ["今", "天", "好。"].map((text, index) => ({ text, startMs: index * 300, endMs: index * 300 + 300 }));
  expect(cuesOf([{ text: "今天好。", words }])).toEqual([{ startMs: 0, endMs: 900, lines: ["今天好。"] }]);
});

const CUES = [
  { startMs: 0, endMs: 1200, lines: ["a < b & c", "d --> e"] },
  { startMs: 3_723_004, endMs: 3_724_000, lines: ["end"] },
];

test("a SubRip file has numbers and commas", () => {
  expect(srtText(CUES)).toBe(
    "1\n00:00:00,000 --> 00:00:01,200\na < b & c\nd → e\n\n2\n01:02:03,004 --> 01:02:04,000\nend\n\n",
  );
});

test("a WebVTT file has points, and escapes what would be a tag", () => {
  expect(vttText(CUES)).toBe(
    "WEBVTT\n\n00:00:00.000 --> 00:00:01.200\na &lt; b &amp; c\nd --&gt; e\n\n01:02:03.004 --> 01:02:04.000\nend\n\n",
  );
});

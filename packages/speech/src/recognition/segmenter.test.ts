import { describe, expect, test } from "vitest";
import { LIVE_SEGMENTS, RECORDED_SEGMENTS, Segmenter, type SegmenterOptions } from "./segmenter.ts";

const RATE = 16_000;

/** A stretch of sound: its kind, length in milliseconds, and amplitude. */
type Sound = readonly [what: "tone" | "noise" | "hum" | "silence", ms: number, amplitude?: number];

let seed = 1;
function chance(): number {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
  return seed / 1_073_741_824 - 1;
}

function sound(...parts: readonly Sound[]): Int16Array {
  seed = 1;
  const samples = parts.flatMap(([what, ms, amplitude = 0.2]) =>
    Array.from({ length: (ms * RATE) / 1000 }, (_, n) => {
      const values = {
        tone: amplitude * Math.sin((2 * Math.PI * 633 * n) / RATE),
        noise: amplitude * chance(),
        hum: amplitude * Math.sin((2 * Math.PI * 50 * n) / RATE),
        silence: 0,
      };
      return Math.round(32_767 * values[what]);
    }),
  );
  return Int16Array.from(samples);
}

/** Start and end of each segment in seconds, rounded to 100 ms. The sound arrives in pieces of `pieceSamples`. */
function cuts(samples: Int16Array, options: SegmenterOptions = LIVE_SEGMENTS, pieceSamples = 1234): string[] {
  const segmenter = new Segmenter(options);
  const found = [];
  for (let start = 0; start < samples.length; start += pieceSamples)
    found.push(...segmenter.push(samples.subarray(start, start + pieceSamples)));
  const last = segmenter.cut();
  if (last !== null) found.push(last);
  return found.map(({ startMs, samples: { length } }) => {
    const ends = [startMs, startMs + (length * 1000) / RATE];
    return ends.map((ms) => (Math.round(ms / 100) / 10).toFixed(1)).join("-");
  });
}

describe("a sound", () => {
  const cases: readonly (readonly [name: string, parts: readonly Sound[], expected: readonly string[]])[] = [
    ["of silence holds no speech", [["silence", 5000]], []],
    ["of white noise holds no speech", [["noise", 5000, 0.1]], []],
    ["of soft noise holds no speech", [["noise", 5000, 0.001]], []],
    ["of hum holds no speech", [["hum", 5000, 0.1]], []],
    [
      "with a click holds no speech",
      [
        ["silence", 1000],
        ["tone", 40],
        ["silence", 1000],
      ],
      [],
    ],
    [
      "keeps a short word, with margins",
      [
        ["silence", 1000],
        ["tone", 200],
        ["silence", 1500],
      ],
      ["0.8-1.4"],
    ],
    [
      "keeps a soft word",
      [
        ["silence", 1000],
        ["tone", 200, 0.01],
        ["silence", 1500],
      ],
      ["0.8-1.4"],
    ],
    ["keeps speech from its first to its last sample", [["tone", 1000]], ["0.0-1.0"]],
    [
      "is cut at pauses",
      [
        ["tone", 3200],
        ["silence", 600],
        ["tone", 1200],
        ["silence", 600],
      ],
      ["0.0-3.4", "3.6-5.2"],
    ],
    [
      "of less than three seconds is not cut at a pause for thought",
      [
        ["tone", 1200],
        ["silence", 600],
        ["tone", 1200],
        ["silence", 900],
      ],
      ["0.0-3.2"],
    ],
    [
      "keeps short words with short pauses in one segment",
      [
        ["tone", 200],
        ["silence", 400],
        ["tone", 200],
        ["silence", 400],
        ["tone", 200],
        ["silence", 1000],
      ],
      ["0.0-1.6"],
    ],
    [
      "is found in noise",
      [
        ["noise", 2000, 0.01],
        ["tone", 500],
        ["noise", 1500, 0.01],
      ],
      ["1.8-2.7"],
    ],
  ];
  test.each(cases)("%s", (_name, parts, expected) => {
    expect(cuts(sound(...parts))).toEqual(expected);
  });

  test("gives the same segments for any length of pieces", () => {
    const samples = sound(["silence", 300], ["tone", 1500], ["silence", 700], ["tone", 300]);
    const whole = cuts(samples, LIVE_SEGMENTS, samples.length);
    for (const length of [1, 319, 320, 321, 5000]) expect(cuts(samples, LIVE_SEGMENTS, length)).toEqual(whole);
  });

  test("without pauses is cut at its quietest moment before it is too long", () => {
    const words: Sound[] = Array.from({ length: 60 }, (): Sound[] => [
      ["tone", 900],
      ["tone", 100, 0.15],
    ]).flat();
    const found = cuts(sound(...words));
    expect(found).toHaveLength(3);
    for (const span of found.slice(0, 2)) {
      const end = Number(span.split("-")[1]);
      expect(["9", "0"]).toContain(end.toFixed(1).at(-1));
      expect(end - Number(span.split("-")[0])).toBeLessThanOrEqual(26);
    }
    expect(Number(found[1]?.split("-")[0])).toBeCloseTo(Number(found[0]?.split("-")[1]), 1);
  });

  test("from a recording is kept in one segment if possible", () => {
    const words: Sound[] = Array.from({ length: 8 }, (): Sound[] => [
      ["tone", 1500],
      ["silence", 500],
    ]).flat();
    expect(cuts(sound(...words), RECORDED_SEGMENTS)).toEqual(["0.0-15.7"]);
  });
});

test("a cut in the middle neither drops nor repeats samples", () => {
  const samples = sound(["tone", 1000], ["tone", 1000, 0.19]);
  const segmenter = new Segmenter(LIVE_SEGMENTS);
  expect(segmenter.push(samples.subarray(0, 12_345))).toEqual([]);
  const first = segmenter.cut();
  segmenter.push(samples.subarray(12_345));
  const second = segmenter.cut();
  expect([...(first?.samples ?? []), ...(second?.samples ?? [])]).toEqual([...samples]);
});

/** A cue as a player reads it, with times in seconds. */
export interface ReadCue {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const SRT_BLOCK = /^(\d+)\n(\d\d):(\d\d):(\d\d),(\d{3}) --> (\d\d):(\d\d):(\d\d),(\d{3})\n((?:.+\n?)+)$/;
const VTT_BLOCK = /^(\d\d):(\d\d):(\d\d)\.(\d{3}) --> (\d\d):(\d\d):(\d\d)\.(\d{3})\n((?:.+\n?)+)$/;

/** Reads a SubRip file, written without a look at the code that makes one. Throws if it is none. */
export function readSrt(file: string): ReadCue[] {
  return blocksOf(file).map((block, index) => {
    const [, number, ...parts] = SRT_BLOCK.exec(block) ?? [];
    if (Number(number) !== index + 1) throw new TypeError(`not cue ${index + 1} of a SubRip file: ${block}`);
    return cueOf(parts);
  });
}

/** Reads a WebVTT file in the same way. */
export function readVtt(file: string): ReadCue[] {
  const [head, ...blocks] = blocksOf(file);
  if (head !== "WEBVTT") throw new TypeError("a WebVTT file begins with its name");
  return blocks.map((block) => {
    const [, ...parts] = VTT_BLOCK.exec(block) ?? [];
    if (parts.length === 0) throw new TypeError(`not a cue of a WebVTT file: ${block}`);
    const cue = cueOf(parts);
    return { ...cue, text: cue.text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&") };
  });
}

function blocksOf(file: string): string[] {
  return file.split(/\n{2,}/).filter((block) => block !== "");
}

function cueOf(parts: readonly string[]): ReadCue {
  const clock = parts.slice(0, 8).map(Number);
  const [h1 = 0, m1 = 0, s1 = 0, ms1 = 0, h2 = 0, m2 = 0, s2 = 0, ms2 = 0] = clock;
  const start = h1 * 3600 + m1 * 60 + s1 + ms1 / 1000;
  const end = h2 * 3600 + m2 * 60 + s2 + ms2 / 1000;
  if (!(end > start)) throw new RangeError("a cue ends after its start");
  return { text: (parts[8] ?? "").trim(), start, end };
}

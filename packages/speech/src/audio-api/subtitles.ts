import type { HeardSegment } from "../recognition/heard-part.ts";
import type { TimedWord } from "../recognition/word-times.ts";

/** What a subtitle shows at once. */
export interface Cue {
  readonly startMs: number;
  readonly endMs: number;
  /** At most two, of at most 42 characters, unless a single word is longer. */
  readonly lines: readonly string[];
}

type SpokenSegment = Pick<HeardSegment, "text" | "words">;

const LINE_CHARACTERS_MAX = 42;
const LINES_MAX = 2;
/** A cue ends at a longer silence. */
const SILENCE_MS_MAX = 1000;
/** Shorter cues cannot be read. */
const CUE_MS_MIN = 200;

/** Cuts what was heard into cues, never within a word. No cue begins before the one before it ends. */
export function cuesOf(segments: readonly SpokenSegment[]): readonly Cue[] {
  const cues: Cue[] = [];
  for (const segment of segments) {
    let open = new OpenCue();
    for (const word of spacedWords(segment)) {
      if (!open.fits(word)) {
        addCue(cues, open);
        open = new OpenCue();
      }
      open.add(word);
    }
    addCue(cues, open);
  }
  return cues;
}

function addCue(cues: Cue[], open: OpenCue): void {
  if (open.lines.length === 0) return;
  const startMs = Math.max(open.startMs, cues.at(-1)?.endMs ?? 0);
  cues.push({ startMs, endMs: Math.max(open.endMs, startMs + CUE_MS_MIN), lines: open.lines });
}

interface SpacedWord extends TimedWord {
  /** What stands before it in the text: a blank, or nothing. */
  readonly before: "" | " ";
}

/** The words of a segment, each with the blank that its text has before it. */
function spacedWords({ text, words }: SpokenSegment): readonly SpacedWord[] {
  let end = 0;
  return words.map((word) => {
    const place = text.indexOf(word.text, end);
    const isAttached = place !== -1 && place === end;
    if (place !== -1) end = place + word.text.length;
    return { ...word, before: isAttached ? "" : " " };
  });
}

class OpenCue {
  readonly lines: string[] = [];
  startMs = 0;
  endMs = 0;

  fits(word: SpacedWord): boolean {
    const last = this.lines.at(-1);
    if (last === undefined) return true;
    if (word.startMs - this.endMs > SILENCE_MS_MAX) return false;
    return this.lines.length < LINES_MAX || fitsLine(last, word);
  }

  add(word: SpacedWord): void {
    const last = this.lines.at(-1);
    if (last === undefined) this.startMs = word.startMs;
    this.endMs = Math.max(this.endMs, word.endMs);
    if (last === undefined || !fitsLine(last, word)) this.lines.push(word.text);
    else this.lines[this.lines.length - 1] = last + word.before + word.text;
  }
}

function fitsLine(line: string, { before, text }: SpacedWord): boolean {
  return line.length + before.length + text.length <= LINE_CHARACTERS_MAX;
}

/** Cues as a SubRip file. */
export function srtText(cues: readonly Cue[]): string {
  return cues
    .map((cue, index) => {
      const text = cue.lines.join("\n").replaceAll("-->", "→");
      return `${index + 1}\n${clockText(cue.startMs, ",")} --> ${clockText(cue.endMs, ",")}\n${text}\n\n`;
    })
    .join("");
}

/** Cues as a WebVTT file. */
export function vttText(cues: readonly Cue[]): string {
  const blocks = cues.map((cue) => {
    const text = cue.lines.join("\n").replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
    return `${clockText(cue.startMs, ".")} --> ${clockText(cue.endMs, ".")}\n${text}\n\n`;
  });
  return `WEBVTT\n\n${blocks.join("")}`;
}

/** `00:01:02,003`, with this mark before the milliseconds. */
function clockText(ms: number, mark: string): string {
  const parts = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, Math.floor(ms / 1000) % 60];
  const clock = parts.map((part) => String(part).padStart(2, "0")).join(":");
  return `${clock}${mark}${String(ms % 1000).padStart(3, "0")}`;
}

import type { HeardPart, HeardSegment } from "../recognition/heard-part.ts";
import type { SpeechTask } from "../recognition/speech-engine.ts";

/** All that was heard of a recording. */
export interface WholeTranscript {
  readonly task: SpeechTask;
  readonly text: string;
  readonly segments: readonly HeardSegment[];
  /** The detected language, such as `en`; null if nothing was said or the engine reports none. */
  readonly language: string | null;
  readonly durationMs: number;
  readonly temperature: number;
}

/** Joins the parts of a recording, the last of which says how long it is. */
export class TranscriptGatherer {
  readonly #texts: string[] = [];
  readonly #segments: HeardSegment[] = [];
  #language: string | null = null;
  #durationMs = 0;

  /** Returns the text that the part adds: with a blank before it, unless it is the first. */
  add({ text, segments, language, heardMs }: HeardPart): string {
    this.#durationMs = heardMs;
    if (text === "") return "";
    const isFirst = this.#texts.length === 0;
    if (isFirst) this.#language = language;
    this.#texts.push(text);
    this.#segments.push(...segments);
    return isFirst ? text : ` ${text}`;
  }

  transcript(task: SpeechTask, temperature: number): WholeTranscript {
    return {
      task,
      temperature,
      text: this.#texts.join(" "),
      segments: this.#segments,
      language: this.#language,
      durationMs: this.#durationMs,
    };
  }
}

import { joinSamples } from "../audio/pcm.ts";
import { FRAME_MS, FRAME_SAMPLES, VoiceActivity } from "./voice-activity.ts";

export interface SegmenterOptions {
  /** A pause this long ends a segment that is at least `speechMsMin` long. */
  readonly pauseMs: number;
  readonly speechMsMin: number;
  /** A pause this long ends every segment. */
  readonly longPauseMs: number;
  /** From this length on, 100 ms without a voice end the segment. */
  readonly softMsMax: number;
  /** At this length a segment is cut at the quietest moment of its last five seconds. */
  readonly hardMsMax: number;
  /** How much sound before the first voice belongs to a segment. 200 ms if absent. */
  readonly prefixMs?: number;
}

/** Tells for each frame of a continuous sound whether somebody speaks in it. */
export interface VoiceDetector {
  isVoiced(frame: Int16Array): boolean;
}

/**
 * For live sound: short segments, so that little is left to transcribe when the speaker stops. Under three seconds the
 * engine makes more errors and is hardly faster.
 */
export const LIVE_SEGMENTS: SegmenterOptions = {
  pauseMs: 360,
  speechMsMin: 3000,
  longPauseMs: 800,
  softMsMax: 15_000,
  hardMsMax: 26_000,
};

/** For recordings: segments as long as the engine accepts, because more context gives better transcripts. */
export const RECORDED_SEGMENTS: SegmenterOptions = {
  pauseMs: 360,
  speechMsMin: 18_000,
  longPauseMs: 2000,
  softMsMax: 22_000,
  hardMsMax: 27_000,
};

/** A stretch of speech with a little of the silence around it. */
export interface SpeechSegment {
  readonly samples: Int16Array;
  /** In milliseconds from the start of the sound. */
  readonly startMs: number;
}

/** Frames kept before the first and after the last voiced frame, because words begin and end softly. */
const MARGIN_FRAMES = 200 / FRAME_MS;
/** Consecutive voiced frames that start a segment; a click has fewer. */
export const ONSET_FRAMES = 3;
/** A segment with fewer voiced frames is too short for a word and is dropped. */
const WORD_FRAMES = 120 / FRAME_MS;
/** A segment that is too long is cut in its last `LATE_FRAMES`, in the quietest stretch of `MOMENT_FRAMES`. */
const LATE_FRAMES = 5000 / FRAME_MS;
const MOMENT_FRAMES = 100 / FRAME_MS;
const SAMPLES_PER_MS = FRAME_SAMPLES / FRAME_MS;

/**
 * Cuts a continuous sound of 16,000 samples per second into segments of speech as it arrives. Sound between segments
 * holds no voice and is dropped.
 */
export class Segmenter {
  readonly #options: SegmenterOptions;
  readonly #voice: VoiceDetector;
  readonly #prefixFrames: number;
  /** Samples that do not fill a frame yet. */
  #rest = new Int16Array(0);
  /** The frames of the open segment; if none is open, the latest few. */
  #frames: Int16Array[] = [];
  /** Position of the first of `#frames` in the sound. */
  #startSample = 0;
  #isOpen = false;
  #voicedFrames = 0;
  /** Consecutive voiced frames while no segment is open; consecutive unvoiced frames while one is. */
  #run = 0;

  constructor(options: SegmenterOptions, voice: VoiceDetector = new VoiceActivity()) {
    this.#options = options;
    this.#voice = voice;
    this.#prefixFrames = options.prefixMs === undefined ? MARGIN_FRAMES : Math.ceil(options.prefixMs / FRAME_MS);
  }

  /** Adds samples and returns the segments that they complete. */
  push(samples: Int16Array): SpeechSegment[] {
    const all = joinSamples([this.#rest, samples]);
    const whole = all.length - (all.length % FRAME_SAMPLES);
    this.#rest = all.slice(whole);
    const segments: SpeechSegment[] = [];
    for (let start = 0; start < whole; start += FRAME_SAMPLES) {
      const segment = this.#addFrame(all.slice(start, start + FRAME_SAMPLES));
      if (segment !== null) segments.push(segment);
    }
    return segments;
  }

  /**
   * Ends the open segment here and returns it, or null if it holds no speech. More sound may follow; no sample is
   * returned twice.
   */
  cut(): SpeechSegment | null {
    return this.#isOpen ? this.#close(this.#endBeforePause(), "cut") : null;
  }

  /** The open segment so far, or null if none is open or it is too short for a word. */
  get open(): Int16Array | null {
    return this.#isOpen && this.#voicedFrames >= WORD_FRAMES ? joinSamples(this.#frames) : null;
  }

  #addFrame(frame: Int16Array): SpeechSegment | null {
    const isVoiced = this.#voice.isVoiced(frame);
    this.#frames.push(frame);
    if (!this.#isOpen) {
      this.#awaitOnset(isVoiced);
      return null;
    }
    this.#run = isVoiced ? 0 : this.#run + 1;
    if (isVoiced) this.#voicedFrames += 1;
    const end = this.#endOfSegment();
    return end === null ? null : this.#close(end, isVoiced ? "speaking" : "silent");
  }

  #awaitOnset(isVoiced: boolean): void {
    this.#run = isVoiced ? this.#run + 1 : 0;
    if (this.#run >= ONSET_FRAMES) {
      this.#isOpen = true;
      this.#voicedFrames = this.#run;
      this.#run = 0;
      return;
    }
    const excess = this.#frames.length - (this.#prefixFrames + ONSET_FRAMES);
    if (excess > 0) {
      this.#frames.splice(0, excess);
      this.#startSample += excess * FRAME_SAMPLES;
    }
  }

  /** The number of frames after which the open segment ends, or null if it does not end yet. */
  #endOfSegment(): number | null {
    const { pauseMs, speechMsMin, longPauseMs, softMsMax, hardMsMax } = this.#options;
    const lengthMs = this.#frames.length * FRAME_MS;
    const silentMs = this.#run * FRAME_MS;
    const isPause = silentMs >= pauseMs && lengthMs - silentMs >= speechMsMin;
    const isMoment = this.#run >= MOMENT_FRAMES && lengthMs >= softMsMax;
    if (isPause || isMoment || silentMs >= longPauseMs) return this.#endBeforePause();
    return lengthMs >= hardMsMax ? this.#softestMoment() : null;
  }

  #endBeforePause(): number {
    return this.#frames.length - Math.max(0, this.#run - MARGIN_FRAMES);
  }

  /** The middle of the quietest moment in the last five seconds. */
  #softestMoment(): number {
    const first = Math.max(0, this.#frames.length - LATE_FRAMES);
    const powers = this.#frames.slice(first).map(powerOf);
    let softest = Number.POSITIVE_INFINITY;
    let place = powers.length;
    for (let start = 0; start + MOMENT_FRAMES <= powers.length; start += 1) {
      const power = powers.slice(start, start + MOMENT_FRAMES).reduce((sum, value) => sum + value, 0);
      if (power < softest) [softest, place] = [power, start + MOMENT_FRAMES / 2];
    }
    return first + Math.round(place);
  }

  /**
   * Closes the open segment after `frames`. The remaining frames start the next segment, which is open at once if
   * `then` is `speaking`.
   */
  #close(frames: number, then: "speaking" | "silent" | "cut"): SpeechSegment | null {
    const pieces = this.#frames.slice(0, frames);
    const startMs = this.#startSample / SAMPLES_PER_MS;
    const isWord = this.#voicedFrames >= WORD_FRAMES;
    this.#frames = this.#frames.slice(frames);
    this.#startSample += frames * FRAME_SAMPLES;
    this.#isOpen = then === "speaking";
    this.#voicedFrames = this.#isOpen ? this.#frames.length : 0;
    this.#run = 0;
    if (then === "cut" && this.#frames.length === 0) {
      pieces.push(this.#rest);
      this.#startSample += this.#rest.length;
      this.#rest = new Int16Array(0);
    }
    return isWord ? { samples: joinSamples(pieces), startMs } : null;
  }
}

function powerOf(frame: Int16Array): number {
  return frame.reduce((sum, sample) => sum + sample * sample, 0);
}

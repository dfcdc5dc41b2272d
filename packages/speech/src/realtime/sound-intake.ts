import { assertNever } from "@antiphon/base/assert.ts";
import type { RealtimeAudioInput, RealtimeTurnDetection } from "@antiphon/contracts/audio/types.ts";
import { joinSamples } from "../audio/pcm.ts";
import { LIVE_SEGMENTS, Segmenter, type SegmenterOptions, type SpeechSegment } from "../recognition/segmenter.ts";
import { SPEECH_RATE_HZ } from "../recognition/speech-engine.ts";
import { FRAME_MS, FRAME_SAMPLES, VoiceActivity } from "../recognition/voice-activity.ts";
import { SoundInput } from "./sound-input.ts";
import { type TurnChange, TurnDetector, type TurnRules } from "./turn-detector.ts";

/** What sound brings, in order. A segment belongs to the open turn. */
export type SoundStep = TurnChange | { readonly type: "segment"; readonly samples: Int16Array };

type IntakeSettings = Pick<RealtimeAudioInput, "format" | "turn_detection">;

/** A pause this long ends a segment, so that semantic_vad can judge its words. */
export const SEMANTIC_PAUSE_MS = 500;

const THRESHOLD = 0.5;
const DB_PER_THRESHOLD = 20;
const PREFIX_MS = 300;
const SILENCE_MS = 500;
const SEMANTIC_SILENCE_MS = { low: 8000, medium: 4000, high: 2000, auto: 4000 } as const;

/** Cuts the sound of a client into turns, and turns into segments for the engine. */
export class SoundIntake {
  #input: SoundInput;
  #voice: VoiceActivity;
  #isVoiced = false;
  #segmenter: Segmenter;
  /** Null if the client ends turns. */
  #detector: TurnDetector | null;
  /** Samples that do not fill a frame yet. */
  #rest = new Int16Array(0);
  #frameCount = 0;
  #bufferedSamples = 0;

  constructor({ format, turn_detection: detection }: IntakeSettings) {
    this.#input = new SoundInput(format);
    this.#voice = voiceOf(detection);
    this.#segmenter = this.#newSegmenter(detection);
    this.#detector = detection === null ? null : new TurnDetector(rulesOf(detection), 0, false);
  }

  /** The bytes of a second in the format of the client. */
  get bytesPerSecond(): number {
    return this.#input.bytesPerSecond;
  }

  /** How much sound has come since the latest turn was ended or dropped. */
  get bufferedMs(): number {
    return (this.#bufferedSamples * 1000) / SPEECH_RATE_HZ;
  }

  /** The place in the sound of the session. */
  get nowMs(): number {
    return this.#frameCount * FRAME_MS;
  }

  /** How long the speaker of the open turn has paused; 0 if nobody speaks. */
  get pauseMs(): number {
    return this.#detector?.pauseMs ?? 0;
  }

  push(bytes: Uint8Array): SoundStep[] {
    return this.#addSamples(this.#input.push(bytes));
  }

  /** Ends the turn here, and returns the rest of its segments. */
  cut(): Int16Array[] {
    const last = this.#input.end();
    const padding = (FRAME_SAMPLES - ((this.#rest.length + last.length) % FRAME_SAMPLES)) % FRAME_SAMPLES;
    const steps = this.#addSamples(joinSamples([last, new Int16Array(padding)]));
    const segments = steps.flatMap((step) => (step.type === "segment" ? [step.samples] : []));
    this.#detector?.stop();
    this.#bufferedSamples = 0;
    return [...segments, ...samplesIn(this.#segmenter.cut())];
  }

  /** Goes on with other settings. Returns the segments so far; an open turn stays open. */
  configure({ format, turn_detection: detection }: IntakeSettings): Int16Array[] {
    const isSpeaking = this.#detector?.isSpeaking ?? false;
    const samplesBefore = this.#bufferedSamples;
    const segments = this.cut();
    this.#bufferedSamples = samplesBefore;
    this.#input = new SoundInput(format);
    this.#voice = voiceOf(detection);
    this.#segmenter = this.#newSegmenter(detection);
    this.#detector = detection === null ? null : new TurnDetector(rulesOf(detection), this.nowMs, isSpeaking);
    return segments;
  }

  #addSamples(samples: Int16Array): SoundStep[] {
    this.#bufferedSamples += samples.length;
    const all = joinSamples([this.#rest, samples]);
    const whole = all.length - (all.length % FRAME_SAMPLES);
    this.#rest = all.slice(whole);
    const steps: SoundStep[] = [];
    for (let start = 0; start < whole; start += FRAME_SAMPLES)
      this.#addFrame(all.slice(start, start + FRAME_SAMPLES), steps);
    return steps;
  }

  #addFrame(frame: Int16Array, steps: SoundStep[]): void {
    this.#frameCount += 1;
    this.#isVoiced = this.#voice.isVoiced(frame);
    const change = this.#detector?.push(this.#isVoiced) ?? null;
    if (change?.type === "started") steps.push(change);
    for (const { samples } of this.#segmenter.push(frame)) steps.push({ type: "segment", samples });
    if (change === null || change.type === "started") return;
    for (const samples of samplesIn(this.#segmenter.cut())) steps.push({ type: "segment", samples });
    steps.push(change);
    this.#bufferedSamples = 0;
  }

  #newSegmenter(detection: RealtimeTurnDetection | null): Segmenter {
    return new Segmenter(segmentsOf(detection), { isVoiced: () => this.#isVoiced });
  }
}

function samplesIn(segment: SpeechSegment | null): Int16Array[] {
  return segment === null ? [] : [segment.samples];
}

function segmentsOf(detection: RealtimeTurnDetection | null): SegmenterOptions {
  if (detection === null) return LIVE_SEGMENTS;
  const { prefixMs } = rulesOf(detection);
  if (detection.type === "server_vad") return { ...LIVE_SEGMENTS, prefixMs };
  return { ...LIVE_SEGMENTS, prefixMs, longPauseMs: SEMANTIC_PAUSE_MS };
}

function voiceOf(detection: RealtimeTurnDetection | null): VoiceActivity {
  const threshold = detection?.type === "server_vad" ? (detection.threshold ?? THRESHOLD) : THRESHOLD;
  return new VoiceActivity((threshold - THRESHOLD) * DB_PER_THRESHOLD);
}

function rulesOf(detection: RealtimeTurnDetection): TurnRules {
  switch (detection.type) {
    case "server_vad":
      return {
        prefixMs: detection.prefix_padding_ms ?? PREFIX_MS,
        silenceMs: detection.silence_duration_ms ?? SILENCE_MS,
        idleMs: detection.idle_timeout_ms ?? null,
      };
    case "semantic_vad":
      return {
        prefixMs: PREFIX_MS,
        silenceMs: SEMANTIC_SILENCE_MS[detection.eagerness ?? "auto"],
        idleMs: null,
      };
    default:
      return assertNever(detection);
  }
}

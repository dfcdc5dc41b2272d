import { FRAME_MS, FRAME_SAMPLES, VoiceActivity } from "./voice-activity.ts";

/** A stretch of sound, in milliseconds from its start. */
export interface Stretch {
  readonly startMs: number;
  readonly endMs: number;
}

/** Shorter silences are part of a word, such as those before a `p` or a `t`. */
const SILENCE_MS_MIN = 80;
/** Shorter sounds are clicks. */
const VOICE_MS_MIN = 60;

/** Where in a sound of 16,000 samples per second somebody speaks, in order of time. */
export function voicedStretches(samples: Int16Array): readonly Stretch[] {
  const voice = new VoiceActivity();
  const stretches: Stretch[] = [];
  for (let start = 0; start + FRAME_SAMPLES <= samples.length; start += FRAME_SAMPLES) {
    if (!voice.isVoiced(samples.subarray(start, start + FRAME_SAMPLES))) continue;
    const startMs = (start / FRAME_SAMPLES) * FRAME_MS;
    const last = stretches.at(-1);
    const isContinued = last !== undefined && startMs - last.endMs < SILENCE_MS_MIN;
    if (isContinued) stretches.pop();
    stretches.push({ startMs: isContinued ? last.startMs : startMs, endMs: startMs + FRAME_MS });
  }
  return stretches.filter(({ startMs, endMs }) => endMs - startMs >= VOICE_MS_MIN);
}

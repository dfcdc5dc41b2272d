import { pcmBytes } from "@antiphon/speech/audio/pcm.ts";
import { wavFile } from "@antiphon/speech/audio-formats/encoded-sound.fixture.ts";
import type { ToneWord } from "../../scripts/fixture-model/tone-words.ts";
import { sound, tones } from "./tones.ts";

/** Half the usual sample rate of tones, to keep pact files short. */
export const RATE_HZ = 8000;

const WAV_HEADER_BYTES = 44;

/** A WAV file that the tone model transcribes as these words. */
export function spokenFile(...words: readonly ToneWord[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(wavFile(halved(tones(...words)), RATE_HZ));
}

/** Words as tones and numbers as milliseconds of silence; samples in base64. */
export function spokenBase64(...parts: readonly (ToneWord | number)[]): string {
  return Buffer.from(pcmBytes(halved(sound(...parts)))).toString("base64");
}

export function silentFile(milliseconds: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(wavFile(halved(sound(milliseconds)), RATE_HZ));
}

/** Its header announces sound that does not follow. */
export function cutOffFile(): Uint8Array<ArrayBuffer> {
  return spokenFile("one").slice(0, WAV_HEADER_BYTES + 100);
}

function halved(samples: Int16Array): Int16Array {
  return samples.filter((_, index) => index % 2 === 0);
}

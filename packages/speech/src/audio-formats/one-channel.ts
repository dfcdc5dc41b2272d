import { sampleOfFloat } from "../audio/sample-encoding.ts";

/** Mixes channels of equal length, with samples from -1 to 1, to their mean in 16 bits. */
export function oneChannel(channels: readonly Float32Array[]): Int16Array {
  const mono = new Int16Array(channels[0]?.length ?? 0);
  for (let index = 0; index < mono.length; index += 1) {
    let sum = 0;
    for (const samples of channels) sum += sampleOfFloat(samples[index] ?? 0);
    mono[index] = Math.round(sum / channels.length);
  }
  return mono;
}

import { type G711Law, g711Samples } from "@antiphon/speech/audio/g711.ts";
import { samplesOf } from "@antiphon/speech/audio/pcm.ts";

/** 16-bit samples as bytes of µ-law. */
export function mulawBytes(bytes: Uint8Array): Uint8Array {
  return compressed(bytes, "mulaw");
}

/** The same of A-law. */
export function alawBytes(bytes: Uint8Array): Uint8Array {
  return compressed(bytes, "alaw");
}

/** Each sample becomes the code whose sample is nearest. */
function compressed(bytes: Uint8Array, law: G711Law): Uint8Array {
  const codes = Array.from({ length: 256 }, (_, code) => code);
  const values = [...g711Samples(Uint8Array.from(codes), law)];
  const nearest = new Map<number, number>();
  const codeOf = (sample: number): number => {
    const known = nearest.get(sample);
    if (known !== undefined) return known;
    const distanceTo = (code: number): number => Math.abs((values[code] ?? 0) - sample);
    const code = codes.reduce((best, one) => (distanceTo(one) < distanceTo(best) ? one : best));
    nearest.set(sample, code);
    return code;
  };
  return Uint8Array.from(samplesOf(bytes), codeOf);
}

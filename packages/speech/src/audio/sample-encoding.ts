/** The little-endian encoding of a sample. */
export type SampleEncoding = "uint8" | "int16" | "int24" | "int32" | "float32" | "float64";

export const BYTES_OF: Readonly<Record<SampleEncoding, number>> = {
  uint8: 1,
  int16: 2,
  int24: 3,
  int32: 4,
  float32: 4,
  float64: 8,
};

/** Converts whole samples of any encoding to 16 bits. */
export function samplesIn(bytes: Uint8Array, encoding: SampleEncoding): Int16Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const read = READERS[encoding];
  const width = BYTES_OF[encoding];
  const samples = new Int16Array(bytes.length / width);
  for (let index = 0; index < samples.length; index += 1) samples[index] = read(view, index * width);
  return samples;
}

/** Mixes interleaved channels down to one: their mean. */
export function mixedDown(samples: Int16Array, channels: number): Int16Array {
  if (channels === 1) return samples;
  const mono = new Int16Array(samples.length / channels);
  for (let index = 0; index < mono.length; index += 1) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel += 1) sum += samples[index * channels + channel] ?? 0;
    mono[index] = Math.round(sum / channels);
  }
  return mono;
}

/** Converts a sample from -1 to 1 to 16 bits. Values outside are clipped; NaN becomes silence. */
export function sampleOfFloat(value: number): number {
  return Math.round(Math.max(-1, Math.min(1, Number.isNaN(value) ? 0 : value)) * 32_767);
}

const READERS: Readonly<Record<SampleEncoding, (view: DataView, place: number) => number>> = {
  uint8: (view, place) => (view.getUint8(place) - 128) << 8,
  int16: (view, place) => view.getInt16(place, true),
  int24: (view, place) => view.getInt16(place + 1, true),
  int32: (view, place) => view.getInt16(place + 2, true),
  float32: (view, place) => sampleOfFloat(view.getFloat32(place, true)),
  float64: (view, place) => sampleOfFloat(view.getFloat64(place, true)),
};

/** The law by which 8-bit samples are compressed, ITU-T G.711. */
export type G711Law = "mulaw" | "alaw";

/** Expands compressed samples to 16 bits. */
export function g711Samples(bytes: Uint8Array, law: G711Law): Int16Array {
  const table = TABLES[law];
  const samples = new Int16Array(bytes.length);
  for (let index = 0; index < bytes.length; index += 1) samples[index] = table[bytes[index] ?? 0] ?? 0;
  return samples;
}

const TABLES: Readonly<Record<G711Law, Int16Array>> = {
  mulaw: Int16Array.from({ length: 256 }, (_, code) => mulawSample(code)),
  alaw: Int16Array.from({ length: 256 }, (_, code) => alawSample(code)),
};

/** All bits are inverted: a sign, three bits of exponent, four of mantissa. */
function mulawSample(code: number): number {
  const bits = ~code & 0xff;
  const magnitude = ((((bits & 0x0f) << 3) + 0x84) << ((bits & 0x70) >> 4)) - 0x84;
  return (bits & 0x80) === 0 ? magnitude : -magnitude;
}

/** Every second bit is inverted, and a set sign bit means positive. */
function alawSample(code: number): number {
  const bits = code ^ 0x55;
  const exponent = (bits & 0x70) >> 4;
  const mantissa = ((bits & 0x0f) << 4) + 8;
  const magnitude = exponent === 0 ? mantissa : (mantissa + 0x100) << (exponent - 1);
  return (bits & 0x80) === 0 ? -magnitude : magnitude;
}

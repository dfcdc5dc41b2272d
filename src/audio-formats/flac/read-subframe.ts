import { AudioError } from "../audio-error.ts";
import type { BitReader } from "./bit-reader.ts";

const CONSTANT = 0;
const VERBATIM = 1;
const FIXED = 8;
const FIXED_ORDER_MAX = 4;
const LINEAR = 32;

/** Coefficients of the predictors that are part of the format, by order; the latest sample first. */
const FIXED_COEFFICIENTS: readonly (readonly number[])[] = [[], [1], [2, -1], [3, -3, 1], [4, -6, 4, -1]];

/** The samples of one channel of one frame. */
export function readSubframe(bits: BitReader, length: number, bitsPerSample: number): Int32Array {
  if (bits.read(1) !== 0) throw broken();
  const type = bits.read(6);
  const wasted = bits.read(1) === 0 ? 0 : bits.readUnary() + 1;
  const width = bitsPerSample - wasted;
  if (width < 1) throw broken();
  const samples = readSamples(bits, { type, length, width });
  if (wasted > 0) for (let index = 0; index < length; index += 1) samples[index] = (samples[index] ?? 0) << wasted;
  return samples;
}

interface Shape {
  readonly type: number;
  readonly length: number;
  readonly width: number;
}

function readSamples(bits: BitReader, { type, length, width }: Shape): Int32Array {
  if (type === CONSTANT) return new Int32Array(length).fill(bits.readSigned(width));
  if (type === VERBATIM) return Int32Array.from({ length }, () => bits.readSigned(width));
  if (type >= FIXED && type <= FIXED + FIXED_ORDER_MAX) {
    const coefficients = FIXED_COEFFICIENTS[type - FIXED] ?? [];
    const samples = readWarmUp(bits, { length, width, order: coefficients.length });
    readResidual(bits, samples, coefficients.length);
    predict(samples, coefficients, 0);
    return samples;
  }
  if (type < LINEAR) throw broken();
  const order = type - LINEAR + 1;
  const samples = readWarmUp(bits, { length, width, order });
  const precision = bits.read(4) + 1;
  const shift = bits.readSigned(5);
  if (precision > 15 || shift < 0) throw broken();
  const coefficients = Array.from({ length: order }, () => bits.readSigned(precision));
  readResidual(bits, samples, order);
  predict(samples, coefficients, shift);
  return samples;
}

function readWarmUp(bits: BitReader, shape: { length: number; width: number; order: number }): Int32Array {
  const { length, width, order } = shape;
  if (order > length) throw broken();
  const samples = new Int32Array(length);
  for (let index = 0; index < order; index += 1) samples[index] = bits.readSigned(width);
  return samples;
}

/** Reads how far each sample is from its prediction, in partitions of Rice codes. */
function readResidual(bits: BitReader, samples: Int32Array, order: number): void {
  const method = bits.read(2);
  if (method > 1) throw broken();
  const parameterBits = method === 0 ? 4 : 5;
  const partitions = 2 ** bits.read(4);
  const partitionSamples = samples.length / partitions;
  if (!Number.isInteger(partitionSamples) || partitionSamples < order) throw broken();
  let index = order;
  for (let partition = 1; partition <= partitions; partition += 1) {
    const end = partition * partitionSamples;
    const parameter = bits.read(parameterBits);
    if (parameter === 2 ** parameterBits - 1) {
      const width = bits.read(5);
      for (; index < end; index += 1) samples[index] = width === 0 ? 0 : bits.readSigned(width);
    } else for (; index < end; index += 1) samples[index] = readRice(bits, parameter);
  }
}

function readRice(bits: BitReader, parameter: number): number {
  const value = bits.readUnary() * 2 ** parameter + bits.read(parameter);
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

/** Adds to each sample what those before it predict. Sums stay below 2 to the 53rd, so that they are exact. */
function predict(samples: Int32Array, coefficients: readonly number[], shift: number): void {
  const order = coefficients.length;
  const scale = 2 ** shift;
  for (let index = order; index < samples.length; index += 1) {
    let sum = 0;
    for (let back = 0; back < order; back += 1) sum += (coefficients[back] ?? 0) * (samples[index - 1 - back] ?? 0);
    samples[index] = (samples[index] ?? 0) + Math.floor(sum / scale);
  }
}

function broken(): AudioError {
  return new AudioError("broken", "The sound of the FLAC file is damaged");
}

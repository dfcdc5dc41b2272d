import { AudioError } from "../audio-error.ts";

/** One element of EBML, the encoding of Matroska and WebM. */
export interface Element {
  readonly id: number;
  /** Offset of its content. */
  readonly start: number;
  /** Offset of its end; null if the size was unknown when it was written, as in live recordings. */
  readonly end: number | null;
}

/** Reads the head of the element at `place`. Throws `AudioError` if the bytes end within the head or are invalid. */
export function readElement(bytes: Uint8Array, place: number): Element {
  const id = readVariable(bytes, place, { lengthMax: 4, keepsMarker: true });
  const size = readVariable(bytes, place + id.length, { lengthMax: 8, keepsMarker: false });
  const start = place + id.length + size.length;
  return { id: id.value, start, end: size.isUnknown ? null : start + size.value };
}

export interface VariableNumber {
  readonly value: number;
  readonly length: number;
  /** Whether all value bits are ones, which means an unknown size. */
  readonly isUnknown: boolean;
}

/** Reads a number of variable length; its first byte encodes the length. Throws `AudioError`. */
export function readVariable(
  bytes: Uint8Array,
  place: number,
  { lengthMax, keepsMarker }: { readonly lengthMax: number; readonly keepsMarker: boolean },
): VariableNumber {
  const first = bytes[place];
  if (first === undefined) throw cutOff();
  const length = Math.clz32(first) - 23;
  if (length > lengthMax) throw new AudioError("broken", "The WebM file is damaged");
  const mask = (1 << (8 - length)) - 1;
  let value = keepsMarker ? first : first & mask;
  let isUnknown = (first & mask) === mask;
  for (let index = 1; index < length; index += 1) {
    const byte = bytes[place + index];
    if (byte === undefined) throw cutOff();
    value = value * 256 + byte;
    isUnknown &&= byte === 0xff;
  }
  return { value, length, isUnknown };
}

export function cutOff(): AudioError {
  return new AudioError("broken", "The WebM file is cut off");
}

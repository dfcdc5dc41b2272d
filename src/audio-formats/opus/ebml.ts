import { AudioError } from "../audio-error.ts";

/** One element of EBML, the language of Matroska and WebM. */
export interface Element {
  readonly id: number;
  /** Where its content begins. */
  readonly start: number;
  /** Where it ends; null where it was not known when it was written, as in live recordings. */
  readonly end: number | null;
}

/** The element at `place`. Throws `AudioError` where the bytes end within its head, or there is none. */
export function readElement(bytes: Uint8Array, place: number): Element {
  const id = readVariable(bytes, place, { lengthMax: 4, keepsMarker: true });
  const size = readVariable(bytes, place + id.length, { lengthMax: 8, keepsMarker: false });
  const start = place + id.length + size.length;
  return { id: id.value, start, end: size.isUnknown ? null : start + size.value };
}

export interface VariableNumber {
  readonly value: number;
  readonly length: number;
  /** All of its bits are ones. */
  readonly isUnknown: boolean;
}

/** A number whose first byte says how long it is. */
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

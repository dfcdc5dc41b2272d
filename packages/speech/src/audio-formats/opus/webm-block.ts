import { AudioError } from "../audio-error.ts";
import { readVariable } from "./ebml.ts";

const LACING = { none: 0, xiph: 1, fixed: 2, ebml: 3 } as const;
const FRAMES_MAX = 256;

/** The frames of a block, or none if it belongs to another track. A block may hold several frames (lacing). */
export function blockFrames(block: Uint8Array, track: number): readonly Uint8Array[] {
  const number = readVariable(block, 0, { lengthMax: 8, keepsMarker: false });
  if (number.value !== track) return [];
  const flags = block[number.length + 2];
  if (flags === undefined) throw brokenWebm();
  const lacing = (flags >> 1) & 3;
  const place = number.length + 3;
  if (lacing === LACING.none) return [block.subarray(place)];
  const count = (block[place] ?? 0) + 1;
  if (count > FRAMES_MAX) throw brokenWebm();
  const { sizes, start } = readSizes(block, { lacing, place: place + 1, count });
  return cut(block.subarray(start), sizes);
}

interface Lace {
  readonly lacing: number;
  readonly place: number;
  readonly count: number;
}

/** Reads the sizes of all frames except the last, which takes the rest. */
function readSizes(block: Uint8Array, lace: Lace): { readonly sizes: readonly number[]; readonly start: number } {
  if (lace.lacing === LACING.xiph) return readXiphSizes(block, lace);
  if (lace.lacing === LACING.ebml) return readEbmlSizes(block, lace);
  const size = (block.length - lace.place) / lace.count;
  if (!Number.isInteger(size)) throw brokenWebm();
  return { sizes: Array.from({ length: lace.count - 1 }, () => size), start: lace.place };
}

function readXiphSizes(block: Uint8Array, { place, count }: Lace) {
  const sizes: number[] = [];
  let start = place;
  while (sizes.length < count - 1) {
    let size = 0;
    for (let byte = 255; byte === 255; ) {
      byte = block[start] ?? -1;
      if (byte < 0) throw brokenWebm();
      size += byte;
      start += 1;
    }
    sizes.push(size);
  }
  return { sizes, start };
}

/** The first size is absolute; each later one is the difference to the one before. */
function readEbmlSizes(block: Uint8Array, { place, count }: Lace) {
  const sizes: number[] = [];
  let start = place;
  let size = 0;
  while (sizes.length < count - 1) {
    const { value, length } = readVariable(block, start, { lengthMax: 8, keepsMarker: false });
    size = sizes.length === 0 ? value : size + value - (2 ** (7 * length - 1) - 1);
    if (size < 0) throw brokenWebm();
    start += length;
    sizes.push(size);
  }
  return { sizes, start };
}

function cut(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const frames: Uint8Array[] = [];
  let place = 0;
  for (const size of sizes) {
    frames.push(bytes.subarray(place, place + size));
    place += size;
  }
  if (place > bytes.length) throw brokenWebm();
  frames.push(bytes.subarray(place));
  return frames;
}

function brokenWebm(): AudioError {
  return new AudioError("broken", "The WebM file is damaged");
}

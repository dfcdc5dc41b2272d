import { AudioError } from "../audio-error.ts";

/** The header of an Opus stream. */
export interface OpusHead {
  readonly channels: number;
  /** Samples to skip at the start, at 48,000 per second. */
  readonly preSkip: number;
  readonly streamCount: number;
  readonly coupledStreamCount: number;
  readonly channelMappingTable: readonly number[];
}

const MARKER = "OpusHead";
const HEAD_BYTES = 19;
const CHANNELS_MAX = 8;

export function isOpusHead(packet: Uint8Array): boolean {
  return Buffer.from(packet.subarray(0, MARKER.length)).toString("latin1") === MARKER;
}

/**
 * Reads the header of an Opus stream, which is the first packet in Ogg and part of the track entry in WebM. Throws
 * `AudioError`.
 */
export function readOpusHead(packet: Uint8Array): OpusHead {
  const bytes = Buffer.from(packet);
  if (!isOpusHead(packet) || bytes.length < HEAD_BYTES) throw brokenOpusHead();
  const channels = bytes[9] ?? 0;
  const family = bytes[18] ?? 0;
  const preSkip = bytes.readUInt16LE(10);
  if (channels < 1 || channels > CHANNELS_MAX) throw brokenOpusHead();
  if (family === 0) {
    if (channels > 2) throw brokenOpusHead();
    const mapping = channels === 1 ? [0] : [0, 1];
    return { channels, preSkip, streamCount: 1, coupledStreamCount: channels - 1, channelMappingTable: mapping };
  }
  if (bytes.length < HEAD_BYTES + 2 + channels) throw brokenOpusHead();
  const streamCount = bytes[19] ?? 0;
  const coupledStreamCount = bytes[20] ?? 0;
  const channelMappingTable = [...bytes.subarray(21, 21 + channels)];
  const streams = streamCount + coupledStreamCount;
  const isPossible = streamCount > 0 && coupledStreamCount <= streamCount && streams <= CHANNELS_MAX;
  if (!isPossible || channelMappingTable.some((stream) => stream >= streams && stream !== 255)) throw brokenOpusHead();
  return { channels, preSkip, streamCount, coupledStreamCount, channelMappingTable };
}

function brokenOpusHead(): AudioError {
  return new AudioError("broken", "The head of the Opus stream is not valid");
}

import { AudioError } from "../audio-error.ts";
import { cutOff, type Element, readElement } from "./ebml.ts";
import { blockFrames } from "./webm-block.ts";

const SEGMENT = 0x1853_8067;
const CLUSTER = 0x1f43_b675;
const TRACKS = 0x1654_ae6b;
const TRACK_ENTRY = 0xae;
const TRACK_NUMBER = 0xd7;
const TRACK_TYPE = 0x83;
const CODEC_ID = 0x86;
const CODEC_PRIVATE = 0x63a2;
const CONTENT_ENCODINGS = 0x6d80;
const BLOCK_GROUP = 0xa0;
const BLOCK = 0xa1;
const SIMPLE_BLOCK = 0xa3;

/** Elements whose children are read; all others are taken or skipped as a whole. */
const OPENED: ReadonlySet<number> = new Set([SEGMENT, CLUSTER, TRACKS, TRACK_ENTRY, BLOCK_GROUP]);
const AUDIO = 2;
const OPUS = "A_OPUS";
/** More tracks than any real recording has. */
const TRACKS_MAX = 100;
const CODEC_ID_BYTES_MAX = 64;

interface Track {
  number: number;
  type: number;
  codec: string;
  head: Uint8Array | null;
  isEncoded: boolean;
}

/**
 * Yields the Opus header and then the packets of the first audio track of a WebM file. Element sizes may be unknown, as
 * in browser recordings. Throws `AudioError`, of reason `unsupported` if the sound is not Opus.
 */
export function* webmPackets(bytes: Uint8Array): Generator<Uint8Array> {
  const tracks: Track[] = [];
  let track: Track | null = null;
  for (let place = 0; place < bytes.length; ) {
    const element = readElement(bytes, place);
    if (element.end !== null && element.end > bytes.length) throw cutOff();
    if (OPENED.has(element.id)) {
      if (element.id === TRACK_ENTRY) tracks.push({ number: 0, type: 0, codec: "", head: null, isEncoded: false });
      if (tracks.length > TRACKS_MAX) throw new AudioError("broken", "The WebM file is damaged");
      place = element.start;
      continue;
    }
    if (element.end === null) throw new AudioError("broken", "The WebM file is damaged");
    const content = bytes.subarray(element.start, element.end);
    if (element.id === SIMPLE_BLOCK || element.id === BLOCK) {
      if (track === null) {
        track = chooseTrack(tracks);
        yield track.head ?? new Uint8Array(0);
      }
      yield* blockFrames(content, track.number);
    } else describeTrack(tracks.at(-1), element, content);
    place = element.end;
  }
  if (track === null) chooseTrack(tracks);
}

function describeTrack(track: Track | undefined, { id }: Element, content: Uint8Array): void {
  if (track === undefined) return;
  if (id === TRACK_NUMBER) track.number = numberIn(content);
  if (id === TRACK_TYPE) track.type = numberIn(content);
  if (id === CODEC_ID)
    track.codec = Buffer.from(content.subarray(0, CODEC_ID_BYTES_MAX)).toString("latin1").replace(/\0+$/, "");
  if (id === CODEC_PRIVATE) track.head = content;
  if (id === CONTENT_ENCODINGS) track.isEncoded = true;
}

function chooseTrack(tracks: readonly Track[]): Track {
  const track = tracks.find(({ type }) => type === AUDIO);
  if (track === undefined) throw new AudioError("empty", "The WebM file holds no sound");
  if (track.codec !== OPUS || track.isEncoded || track.head === null)
    throw new AudioError("unsupported", "Unsupported format: WebM whose sound is not Opus");
  return track;
}

function numberIn(content: Uint8Array): number {
  return content.subarray(0, 6).reduce((value, byte) => value * 256 + byte, 0);
}

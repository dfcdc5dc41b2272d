import { OpusDecoder } from "opus-decoder";
import { AudioError } from "../audio-error.ts";
import { oneChannel } from "../one-channel.ts";
import { DECODED_RATE_HZ } from "../recording.ts";
import { isOpusHead, type OpusHead, readOpusHead } from "./opus-head.ts";

/** Packets that are decoded at once: about a second of sound. */
const BATCH = 50;
const TAGS = "OpusTags";
/** A recording with this many consecutive damaged packets is refused; fewer only leave a gap. */
const DAMAGED_MAX = 25;
const OPUS_RATE_HZ = 48_000;

type Decoder = OpusDecoder<typeof DECODED_RATE_HZ>;

/**
 * Decodes Opus packets that begin with a stream header. Another header starts another stream, whose sound follows.
 * Throws `AudioError`.
 */
export async function* decodeOpus(packets: Iterable<Uint8Array>): AsyncGenerator<Int16Array> {
  let stream: OpusStream | null = null;
  try {
    for (const packet of packets) {
      if (isOpusHead(packet)) {
        yield* stream?.decodeBatch() ?? [];
        stream?.free();
        stream = await OpusStream.open(readOpusHead(packet));
      } else if (!isTags(packet)) yield* stream?.add(packet) ?? [];
    }
    yield* stream?.decodeBatch() ?? [];
  } finally {
    stream?.free();
  }
}

class OpusStream {
  readonly #decoder: Decoder;
  /** How many samples are still to be skipped. */
  #skip: number;
  #batch: Uint8Array[] = [];
  #errorCount = 0;

  private constructor(decoder: Decoder, preSkip: number) {
    this.#decoder = decoder;
    this.#skip = Math.round((preSkip * DECODED_RATE_HZ) / OPUS_RATE_HZ);
  }

  static async open({ channelMappingTable, preSkip, ...head }: OpusHead): Promise<OpusStream> {
    const decoder: Decoder = new OpusDecoder({
      sampleRate: DECODED_RATE_HZ,
      ...head,
      channelMappingTable: [...channelMappingTable],
    });
    await decoder.ready;
    return new OpusStream(decoder, preSkip);
  }

  *add(packet: Uint8Array): Generator<Int16Array> {
    if (packet.length === 0) return;
    this.#batch.push(packet);
    if (this.#batch.length >= BATCH) yield* this.decodeBatch();
  }

  *decodeBatch(): Generator<Int16Array> {
    if (this.#batch.length === 0) return;
    const { channelData, errors } = this.#decoder.decodeFrames(this.#batch);
    this.#errorCount = errors.length === this.#batch.length ? this.#errorCount + errors.length : errors.length;
    this.#batch = [];
    if (this.#errorCount >= DAMAGED_MAX) throw new AudioError("broken", "The Opus sound of the recording is damaged");
    const samples = oneChannel(channelData);
    const skipLength = Math.min(this.#skip, samples.length);
    this.#skip -= skipLength;
    yield samples.subarray(skipLength);
  }

  free(): void {
    this.#decoder.free();
  }
}

function isTags(packet: Uint8Array): boolean {
  return Buffer.from(packet.subarray(0, TAGS.length)).toString("latin1") === TAGS;
}

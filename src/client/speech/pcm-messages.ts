import type { CloudAudioMessage } from "../../../generated/local-stt/types.ts";
import { base64Of } from "../base64.ts";

/** The size of a piece that services recommend: one second at 16 kHz. */
const PIECE_BYTES_MAX = 32_000;

/**
 * Little-endian 16-bit mono PCM as messages of the cloud stream, as it comes; what is longer than 32 kB is split.
 * 16,000 samples a second unless told.
 */
export async function* pcmMessages(
  pcm: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  sampleRateHz = 16_000,
): AsyncGenerator<CloudAudioMessage, void> {
  for await (const bytes of pcm) {
    for (let start = 0; start < bytes.length; start += PIECE_BYTES_MAX) {
      const piece = bytes.subarray(start, start + PIECE_BYTES_MAX);
      yield { type: "audio", audio_base64: base64Of(piece), sample_rate: sampleRateHz };
    }
  }
}

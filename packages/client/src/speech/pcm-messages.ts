import type { CloudAudioMessage } from "@antiphon/contracts/local-stt/types.ts";
import { base64Of } from "../base64.ts";

/** The recommended size of a message: one second at 16 kHz. */
const PIECE_BYTES_MAX = 32_000;

/**
 * Turns PCM into audio messages of the cloud stream. The PCM is 16-bit, little-endian and mono, at 16,000 samples per
 * second by default. Pieces of more than 32,000 bytes are split.
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

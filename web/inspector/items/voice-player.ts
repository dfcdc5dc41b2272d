import { bytesOfBase64 } from "./bytes.ts";

export const VOICE_SAMPLE_RATE = 24_000;

/** What speakers still have to play when the clock has reached the end. */
const SILENCE_MS = 300;

/** Plays a spoken answer while it arrives: 16-bit samples, one channel. */
export class VoicePlayer {
  readonly #context = new AudioContext({ sampleRate: VOICE_SAMPLE_RATE });
  readonly #pieces: Int16Array[] = [];
  #playedUntil = 0;
  /** Half a sample that the next piece completes. */
  #odd: number | null = null;

  /** Everything that has arrived. */
  get pieces(): readonly Int16Array[] {
    return this.#pieces;
  }

  /** Takes the next piece, in base64, and plays it after the ones before. */
  add(base64: string): void {
    const samples = this.#samplesOf(bytesOfBase64(base64));
    if (samples.length === 0) return;
    this.#pieces.push(samples);
    const buffer = this.#context.createBuffer(1, samples.length, VOICE_SAMPLE_RATE);
    buffer.copyToChannel(
      Float32Array.from(samples, (sample) => sample / 32_768),
      0,
    );
    const source = this.#context.createBufferSource();
    source.buffer = buffer;
    source.connect(this.#context.destination);
    this.#playedUntil = Math.max(this.#playedUntil, this.#context.currentTime);
    source.start(this.#playedUntil);
    this.#playedUntil += buffer.duration;
  }

  /** Frees the speakers once everything that has arrived was played. */
  finish(): void {
    const leftMs = Math.max(0, this.#playedUntil - this.#context.currentTime) * 1000;
    setTimeout(() => void this.stop(), leftMs + SILENCE_MS);
  }

  /** Falls silent at once. */
  async stop(): Promise<void> {
    if (this.#context.state !== "closed") await this.#context.close();
  }

  #samplesOf(bytes: Uint8Array): Int16Array {
    const all = this.#odd === null ? bytes : Uint8Array.of(this.#odd, ...bytes);
    this.#odd = all.length % 2 === 1 ? (all.at(-1) ?? null) : null;
    const view = new DataView(all.buffer, all.byteOffset, all.length);
    return Int16Array.from({ length: Math.floor(all.length / 2) }, (_, index) => view.getInt16(index * 2, true));
  }
}

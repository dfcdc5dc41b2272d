import { base64Of, type LocalStt } from "../../packages/client/src/index.ts";

/** Maximum bytes of kept audio: four minutes at 48,000 16-bit samples per second. */
export const KEPT_BYTES_MAX = 24 * 1024 * 1024;

/**
 * The audio that has no final transcript yet. When a stream breaks, the next one gets all of it again, so that no word
 * is lost. The server answers in order, so a final covers exactly the pieces that were acknowledged before it.
 */
export class SpokenAudio {
  readonly #sampleRate: number;
  #pieces: Int16Array[] = [];
  #keptBytes = 0;
  #stream = 0;
  #sent = 0;
  #acknowledged = 0;
  #wantsFinal = false;
  #isOver = false;
  #wake: () => void = () => {};

  constructor(sampleRate: number) {
    this.#sampleRate = sampleRate;
  }

  /** Adds mono samples. Returns false if there is no room for them. */
  add(samples: Int16Array): boolean {
    if (this.#keptBytes + samples.byteLength > KEPT_BYTES_MAX) return false;
    this.#pieces.push(samples);
    this.#keptBytes += samples.byteLength;
    this.#wake();
    return true;
  }

  /** Milliseconds of audio without a final transcript. */
  get openMs(): number {
    return (this.#keptBytes / 2 / this.#sampleRate) * 1000;
  }

  /** Asks for a final transcript of the audio so far. */
  askForFinal(): void {
    this.#wantsFinal = true;
    this.#wake();
  }

  /** Ends the audio: nothing more is added. */
  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  acknowledge(): void {
    this.#acknowledged += 1;
  }

  /** Drops the acknowledged pieces, because their final transcript has arrived. */
  settle(): void {
    const settled = this.#pieces.splice(0, this.#acknowledged);
    this.#keptBytes -= settled.reduce((sum, { byteLength }) => sum + byteLength, 0);
    this.#sent -= settled.length;
    this.#acknowledged = 0;
  }

  /** The messages of a new stream, from the oldest piece without a final. An older stream gets nothing more. */
  messages(): AsyncGenerator<LocalStt.SttClientMessage, void> {
    this.#stream += 1;
    this.#sent = 0;
    this.#acknowledged = 0;
    return this.#messagesOf(this.#stream);
  }

  async *#messagesOf(stream: number): AsyncGenerator<LocalStt.SttClientMessage, void> {
    while (stream === this.#stream) {
      const piece = this.#pieces[this.#sent];
      if (piece !== undefined) {
        this.#sent += 1;
        yield { type: "chunk", audio_base64: base64Of(bytesOf(piece)), sample_rate: this.#sampleRate };
      } else if (this.#isOver) {
        yield { type: "end" };
        return;
      } else if (this.#wantsFinal) {
        this.#wantsFinal = false;
        yield { type: "flush" };
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: Int16Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

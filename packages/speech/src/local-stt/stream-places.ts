import type { SpeechEngine } from "../recognition/speech-engine.ts";
import { tooManyStreams } from "./errors.ts";
import { speechFault } from "./speech-faults.ts";

/** Limits how many streams are open, on both transports together. */
export class StreamPlaces {
  readonly #streamsMax: number;
  readonly #speech: Pick<SpeechEngine, "refusal">;
  readonly #setting: string;
  #takenCount = 0;

  /** `setting`: the name of the setting of `streamsMax`. */
  constructor(streamsMax: number, speech: Pick<SpeechEngine, "refusal">, setting = "STT_STREAMS_MAX") {
    this.#streamsMax = streamsMax;
    this.#speech = speech;
    this.#setting = setting;
  }

  get takenCount(): number {
    return this.#takenCount;
  }

  /** Throws an `ApiError` if no stream can be opened now. */
  check(): void {
    const refusal = this.#speech.refusal();
    if (refusal !== null) throw speechFault(refusal);
    if (this.#takenCount >= this.#streamsMax) throw tooManyStreams(this.#streamsMax, this.#setting);
  }

  /** Takes a place. The returned function frees it and may be called more than once. Throws like `check`. */
  take(): () => void {
    this.check();
    this.#takenCount += 1;
    let isHeld = true;
    return () => {
      if (isHeld) this.#takenCount -= 1;
      isHeld = false;
    };
  }
}

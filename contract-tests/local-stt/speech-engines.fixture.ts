import { createNoSpeech } from "../../src/speech/no-speech.ts";
import {
  type EngineStatus,
  type SpeechEngine,
  SpeechError,
  type SpeechErrorReason,
} from "../../src/speech/speech-engine.ts";
import type { EngineName } from "./provider-states.fixture.ts";

const NOBODY = createNoSpeech("Speech is switched off");

/** Engines as the server sees them, in situations that no real one stays in for long. */
export const STAGED_ENGINES: Readonly<Record<Exclude<EngineName, "tones">, SpeechEngine>> = {
  building: unready({ state: "building", percent: 40 }),
  downloading: unready({ state: "downloading", receivedBytes: 1_048_576, totalBytes: 147_951_465 }),
  loading: unready({ state: "loading" }),
  full: refusing("busy", "Too many recordings wait for the speech engine already"),
  failing: ready(new SpeechError("crashed", "The speech engine failed on this recording, twice")),
  faulty: ready(new TypeError("a fault of the server itself")),
};

function unready(status: EngineStatus): SpeechEngine {
  return { ...refusing("loading", "The speech engine is not ready"), status: () => status };
}

function refusing(reason: SpeechErrorReason, message: string): SpeechEngine {
  const refusal = new SpeechError(reason, message);
  return { ...ready(refusal), refusal: () => refusal };
}

function ready(failure: Error): SpeechEngine {
  return {
    ...NOBODY,
    status: () => ({ state: "ready" }),
    facts: () => ({ ...NOBODY.facts(), model: "base.en" }),
    refusal: () => null,
    transcribe: () => Promise.reject(failure),
  };
}

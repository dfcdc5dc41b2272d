import { type SpeechEngine, SpeechError } from "./speech-engine.ts";

/** Stands where nobody transcribes. `reason`: a sentence without a full stop. */
export function createNoSpeech(reason: string): SpeechEngine {
  return {
    name: "nobody",
    status: () => ({ state: "failed", reason }),
    watch: () => () => {},
    facts: () => ({ engine: "none", engineVersion: null, model: null, modelPath: null, modelSha256: null }),
    restarts: () => 0,
    knowsLanguage: () => true,
    refusal: () => new SpeechError("failed", reason),
    transcribe: () => Promise.reject(new SpeechError("failed", reason)),
  };
}

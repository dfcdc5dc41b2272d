import { type SpeechEngine, SpeechError } from "./speech-engine.ts";

/** An engine that refuses every request. `reason`: a sentence without a full stop, shown to callers. */
export function createDisabledEngine(reason: string): SpeechEngine {
  return {
    name: "nobody",
    status: () => ({ state: "failed", reason }),
    watch: () => () => {},
    facts: () => ({ engine: "none", engineVersion: null, model: null, modelPath: null, modelSha256: null }),
    restarts: () => 0,
    knowsLanguage: () => true,
    canTranslate: () => true,
    refusal: () => new SpeechError("failed", reason),
    transcribe: () => Promise.reject(new SpeechError("failed", reason)),
  };
}

import type { RecordingTranscriber } from "../recognition/recording-transcriber.ts";
import type { SpeechEngine } from "../recognition/speech-engine.ts";
import type { RecordingHearing } from "./ports.ts";

/** Hears with the speech engine of this process. */
export function engineHearing(engine: SpeechEngine, recordings: RecordingTranscriber): RecordingHearing {
  return {
    model: () => engine.facts().model,
    warning: () => recordings.warning(),
    knowsLanguage: (language) => engine.knowsLanguage(language),
    canTranslate: () => engine.canTranslate(),
    hear: (recording, request) => recordings.hear(recording, request),
    refusal: () => engine.refusal(),
    hearSamples: (samples, request) => engine.transcribe(samples, request),
  };
}

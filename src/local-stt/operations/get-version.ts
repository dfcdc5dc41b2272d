import type { LocalSttHandlers } from "../../../generated/local-stt/operations.ts";
import type { SpeechEngine } from "../../speech/speech-engine.ts";

/** `GET /version`: build metadata. `version` is the program's. */
export function getVersion(version: string, speech: SpeechEngine): LocalSttHandlers<unknown>["getVersion"] {
  return async () => {
    const { engine, engineVersion, model, modelPath, modelSha256 } = speech.facts();
    return {
      status: 200,
      body: {
        name: "antiphon",
        version,
        commit: null,
        protocol: "stt-jsonl-v1",
        engine: { name: engine, version: engineVersion },
        model_paths: { speech: modelPath },
        speech_model: { name: model, sha256: modelSha256 },
        formatting_tier: { status: "no_key", model: null },
        ai: { formatting: false, demo_chat: false },
      },
    };
  };
}

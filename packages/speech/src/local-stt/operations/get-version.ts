import type { LocalSttHandlers } from "@antiphon/contracts/local-stt/operations.ts";
import type { FormattingTier } from "../../formatting/formatting-tier.ts";
import type { SpeechEngine } from "../../recognition/speech-engine.ts";

/** The program's version, and its commit if it runs from a clone. */
export interface ProgramVersion {
  readonly version: string;
  readonly commit: string | null;
}

/** `GET /version`: build metadata. */
export function getVersion(
  program: ProgramVersion,
  speech: SpeechEngine,
  formatting: () => FormattingTier,
): LocalSttHandlers<unknown>["getVersion"] {
  return async () => {
    const { engine, engineVersion, model: speechModel, modelPath, modelSha256 } = speech.facts();
    const { status, model } = formatting();
    const isAsked = status === "ready" || status === "unauthorized";
    return {
      status: 200,
      body: {
        name: "antiphon",
        version: program.version,
        commit: program.commit,
        protocol: "stt-jsonl-v1",
        engine: { name: engine, version: engineVersion },
        model_paths: { speech: modelPath },
        speech_model: { name: speechModel, sha256: modelSha256 },
        formatting_tier: { status, model: status === "ready" ? model : null },
        ai: { formatting: isAsked, demo_chat: isAsked },
      },
    };
  };
}

import type { LocalSttHandlers } from "../../../generated/local-stt/operations.ts";

/** `GET /version`: build metadata. `version` is the program's. */
export function getVersion(version: string): LocalSttHandlers<unknown>["getVersion"] {
  return async () => ({
    status: 200,
    body: {
      name: "antiphon",
      version,
      commit: null,
      protocol: "stt-jsonl-v1",
      engine: { name: "none", version: null },
      model_paths: { speech: null },
      formatting_tier: { status: "no_key", model: null },
      ai: { formatting: false, demo_chat: false },
    },
  });
}

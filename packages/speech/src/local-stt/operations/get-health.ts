import type { LocalSttHandlers } from "@antiphon/contracts/local-stt/operations.ts";
import type { FormattingHealth, SpeechHealth } from "@antiphon/contracts/local-stt/types.ts";
import type { FormattingTier } from "../../formatting/formatting-tier.ts";
import { type EngineStatus, type SpeechEngine, transcriptWarning } from "../../recognition/speech-engine.ts";

/** `GET /healthz`. Reads the engine's status and gives it no work, so it answers at once. */
export function getHealth(
  speech: SpeechEngine,
  formatting: () => FormattingTier,
): LocalSttHandlers<unknown>["getHealth"] {
  return async () => {
    const status = speech.status();
    return {
      status: 200,
      body: {
        ok: status.state === "ready",
        speech: {
          state: status.state,
          model: speech.facts().model,
          detail: detailOf(status),
          ...downloadBytes(status),
          restarts: speech.restarts(),
        },
        formatting: formattingHealth(formatting()),
      },
    };
  };
}

function formattingHealth({ status, ...tier }: FormattingTier): FormattingHealth {
  return { enabled: status === "ready", ...tier };
}

function detailOf(status: EngineStatus): string | null {
  switch (status.state) {
    case "building":
      return `The speech engine is being built${status.percent === null ? "" : `, ${status.percent} %`}.`;
    case "downloading":
      return "The speech model is being downloaded.";
    case "loading":
      return "The speech model is being loaded.";
    case "failed":
      return `${status.reason}.`;
    case "ready":
      return null;
    case "demo":
      return `${transcriptWarning(status) ?? ""} ${status.reason}.`;
  }
}

function downloadBytes(status: EngineStatus): Pick<SpeechHealth, "received_bytes" | "total_bytes"> {
  if (status.state !== "downloading") return { received_bytes: null, total_bytes: null };
  return { received_bytes: status.receivedBytes, total_bytes: status.totalBytes };
}

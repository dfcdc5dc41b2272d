import type { LocalSttHandlers } from "@antiphon/contracts/local-stt/operations.ts";
import type { SttContext } from "../context.ts";
import { runSession, type SessionParts } from "../run-session.ts";

/** `POST /stream/transcribe`: streams one JSON message per line in both directions. */
export function streamTranscription(parts: SessionParts): LocalSttHandlers<SttContext>["streamTranscription"] {
  return async ({ body, query }, { requestId, log, signal }) => {
    const request = { transport: "ndjson", interim: query.interim === true, requestId, log, signal } as const;
    return { status: 200, lines: runSession(parts, body, request) };
  };
}

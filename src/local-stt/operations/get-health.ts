import type { LocalSttHandlers } from "../../../generated/local-stt/operations.ts";

/** `GET /healthz`. There is no speech engine in this version, and the reply says so. */
export function getHealth(): LocalSttHandlers<unknown>["getHealth"] {
  return async () => ({
    status: 200,
    body: {
      ok: false,
      speech: {
        state: "failed",
        model: null,
        detail: "This version has no speech engine yet.",
        received_bytes: null,
        total_bytes: null,
        restarts: 0,
      },
      formatting: { enabled: false, provider: null, model: null },
    },
  });
}

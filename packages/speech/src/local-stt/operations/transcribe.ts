import type { LocalSttHandlers } from "@antiphon/contracts/local-stt/operations.ts";
import type { SttContext } from "../context.ts";
import type { TranscribeUpload } from "../transcribe-recording.ts";

/** `POST /transcribe`: transcribes a whole file. */
export function transcribe(transcribeUpload: TranscribeUpload): LocalSttHandlers<SttContext>["transcribe"] {
  return async ({ body }, context) => {
    const { text, durationMs, language, warning } = await transcribeUpload(body, context);
    const more = { ...(language === null ? {} : { language }), ...(warning === null ? {} : { warning }) };
    return { status: 200, body: { text, duration_ms: durationMs, ...more } };
  };
}

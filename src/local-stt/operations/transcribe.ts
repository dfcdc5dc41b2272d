import type { LocalSttHandlers } from "../../../generated/local-stt/operations.ts";
import type { SttContext } from "../context.ts";
import type { RecordingTranscriber } from "../transcribe-recording.ts";

/** `POST /transcribe`: a whole file, and all its words at once. */
export function transcribe(recordings: RecordingTranscriber): LocalSttHandlers<SttContext>["transcribe"] {
  return async ({ body }, context) => {
    const { text, durationMs } = await recordings.transcribe(body.audio, context);
    return { status: 200, body: { text, duration_ms: durationMs } };
  };
}

import type { Recording } from "../audio-formats/recording.ts";
import type { RecordingTranscriber, TranscribedRecording } from "../speech/recording-transcriber.ts";
import type { SttContext } from "./context.ts";
import { recordingFault } from "./speech-faults.ts";
import type { SpeechObserver } from "./speech-observer.ts";

/** Transcribes an uploaded recording. Throws `ApiError`, and the signal's reason when that aborts. */
export type TranscribeUpload = (recording: Recording, context: SttContext) => Promise<TranscribedRecording>;

export function transcribeUploads(recordings: RecordingTranscriber, observer: SpeechObserver): TranscribeUpload {
  return async (recording, { requestId, signal }) => {
    try {
      const heard = await recordings.transcribe(recording, { language: null, caller: requestId, signal });
      observer.audioReceived(heard.durationMs);
      return heard;
    } catch (error) {
      throw recordingFault(error);
    }
  };
}

import { assertNever } from "@antiphon/base/assert.ts";
import { AudioError } from "../audio-formats/audio-error.ts";
import type { Recording } from "../audio-formats/recording.ts";
import type { HeardPart, HearingRequest } from "../recognition/heard-part.ts";
import { logSpeechFailure } from "../recognition/log-speech-failure.ts";
import { SpeechError, type SpeechTask } from "../recognition/speech-engine.ts";
import { recordingNotReadable, recordingTooLarge, serviceFailed, speechNotSetUp } from "./errors.ts";
import type { AudioContext, AudioParts, RecordingHearing } from "./ports.ts";
import { TranscriptGatherer, type WholeTranscript } from "./transcript.ts";

/** A recording that is being heard. */
export interface Heard {
  readonly parts: AsyncIterable<HeardPart>;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Starts to hear a recording, and resolves once its first part is heard, so that a recording that cannot be read is
 * refused before a reply begins. Throws an `ApiError`, or the signal's reason if the signal aborts.
 */
export async function hearRecording(
  { hearing, recordingBytesMax }: AudioParts,
  recording: Recording,
  context: AudioContext,
  requestFor: (hearing: RecordingHearing) => Omit<HearingRequest, "caller" | "signal">,
): Promise<Heard> {
  if (hearing === null) throw speechNotSetUp();
  if (recording.size > recordingBytesMax) throw recordingTooLarge(recordingBytesMax);
  const { requestId, signal, onHeard } = context;
  const request = { ...requestFor(hearing), caller: requestId, signal };
  const parts = hearing.hear(recording, request)[Symbol.asyncIterator]();
  const next = (): Promise<IteratorResult<HeardPart>> =>
    parts.next().catch((error: unknown) => {
      if (!signal.aborted) logSpeechFailure(context, error);
      throw hearingFault(error);
    });
  const first = await next();
  // A reply that its client left before it began is never read, so nobody else would end the work.
  signal.addEventListener("abort", () => void parts.return?.(), { once: true });
  const warning = hearing.warning();
  return {
    parts: continuedParts(first, next, async (heardMs) => {
      onHeard?.(heardMs);
      await parts.return?.();
    }),
    headers: warning === null ? {} : { "x-antiphon-warning": warning },
  };
}

/** Hears all of a recording. Throws as `hearRecording` does. */
export async function transcriptOf({ parts }: Heard, task: SpeechTask, temperature: number): Promise<WholeTranscript> {
  const gatherer = new TranscriptGatherer();
  for await (const part of parts) gatherer.add(part);
  return gatherer.transcript(task, temperature);
}

async function* continuedParts(
  first: IteratorResult<HeardPart>,
  next: () => Promise<IteratorResult<HeardPart>>,
  leave: (heardMs: number) => Promise<void>,
): AsyncGenerator<HeardPart> {
  let heardMs = 0;
  try {
    for (let step = first; step.done !== true; step = await next()) {
      heardMs = step.value.heardMs;
      yield step.value;
    }
  } finally {
    await leave(heardMs);
  }
}

/** A model on disk loads within seconds. */
const LOADING_RETRY_SECONDS = 5;
const BUSY_RETRY_SECONDS = 1;

/** The error for the client when a recording was not transcribed. Other errors are returned unchanged. */
export function hearingFault(error: unknown): unknown {
  if (error instanceof AudioError) return recordingNotReadable(error.message, error);
  if (!(error instanceof SpeechError)) return error;
  const sentence = `${error.message}.`;
  switch (error.reason) {
    case "refused":
      return recordingNotReadable(error.message, error);
    case "loading":
    case "unavailable":
      return serviceFailed(sentence, LOADING_RETRY_SECONDS, error);
    case "busy":
      return serviceFailed(sentence, BUSY_RETRY_SECONDS, error);
    case "crashed":
    case "failed":
      return serviceFailed(sentence, null, error);
    default:
      return assertNever(error.reason);
  }
}

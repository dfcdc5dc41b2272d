import { dataFrame, EventFrames, type FrameForm } from "@antiphon/base/event-frames.ts";
import type { AudioHandlers, CreateTranscriptionCall } from "@antiphon/contracts/audio/operations.ts";
import type { TranscriptStreamEvent } from "@antiphon/contracts/audio/types.ts";
import type { HeardPart } from "../../recognition/heard-part.ts";
import { languageNotKnown, languageNotReadable } from "../errors.ts";
import { type Heard, hearRecording, transcriptOf } from "../hear-recording.ts";
import type { AudioContext, AudioParts, RecordingHearing } from "../ports.ts";
import { TranscriptGatherer } from "../transcript.ts";
import { durationOf, languagesOf, logprobsOf } from "../transcript-bodies.ts";
import { transcriptReply } from "../transcript-reply.ts";

type Form = CreateTranscriptionCall["body"];

/** `POST /v1/audio/transcriptions`: transcribes a recording. */
export function createTranscription(parts: AudioParts): AudioHandlers<AudioContext>["createTranscription"] {
  return async ({ body }, context) => {
    const { temperature = 0, response_format: format = "json", timestamp_granularities: granularities = [] } = body;
    const showsLogprobs = body.include?.includes("logprobs") === true;
    const recording = await hearRecording(parts, body.file, context, (hearing) => ({
      task: "transcribe",
      language: spokenTag(body, hearing),
      prompt: promptOf(body),
      temperature,
    }));
    if (body.stream === true && (format === "json" || format === "text"))
      return { status: 200, headers: recording.headers, events: transcriptEvents(recording, showsLogprobs) };
    const transcript = await transcriptOf(recording, "transcribe", temperature);
    return { ...transcriptReply(transcript, { format, granularities, showsLogprobs }), headers: recording.headers };
  };
}

/** An ISO 639 code, with or without a region. */
const LANGUAGE = /^[a-z]{2,3}(?:-[a-z0-9]{1,8})*$/i;

/**
 * The language that is spoken; null if the engine is to detect it. Throws an `ApiError` for one that is no code, or
 * that the model does not know.
 */
function spokenTag(
  { language = "", languages = [] }: Pick<Form, "language" | "languages">,
  hearing: RecordingHearing,
): string | null {
  const single = checkedTag("language", language, hearing);
  const possible = languages.map((one) => checkedTag("languages", one, hearing));
  return single ?? (possible.length === 1 ? (possible[0] ?? null) : null);
}

function checkedTag(param: string, language: string, hearing: RecordingHearing): string | null {
  if (language === "" || language.toLowerCase() === "auto") return null;
  if (!LANGUAGE.test(language)) throw languageNotReadable(param, language);
  if (!hearing.knowsLanguage(language)) throw languageNotKnown(param, language, hearing.model());
  return language;
}

/** Keywords are likely words, and so is a prompt. */
function promptOf({ prompt = "", keywords = [] }: Form): string | null {
  const text = [keywords.join(", "), prompt].filter((part) => part !== "").join(". ");
  return text === "" ? null : text;
}

/** Frames without event names, as the reference sends them. */
const FORM: FrameForm = { end: null, errorFrame: (body) => dataFrame(JSON.stringify(body)) };

function transcriptEvents(heard: Heard, showsLogprobs: boolean): EventFrames<TranscriptStreamEvent> {
  return new EventFrames(transcriptFrames(heard.parts, showsLogprobs), FORM);
}

async function* transcriptFrames(parts: AsyncIterable<HeardPart>, showsLogprobs: boolean): AsyncGenerator<string> {
  const gatherer = new TranscriptGatherer();
  for await (const part of parts) {
    const delta = gatherer.add(part);
    const logprobs = showsLogprobs ? { logprobs: logprobsOf(part.segments) } : {};
    if (delta !== "") yield transcriptFrame({ type: "transcript.text.delta", delta, ...logprobs });
  }
  const transcript = gatherer.transcript("transcribe", 0);
  yield transcriptFrame({
    type: "transcript.text.done",
    text: transcript.text,
    ...languagesOf(transcript),
    ...(showsLogprobs ? { logprobs: logprobsOf(transcript.segments) } : {}),
    usage: durationOf(transcript),
  });
}

function transcriptFrame(event: TranscriptStreamEvent): string {
  return dataFrame(JSON.stringify(event));
}

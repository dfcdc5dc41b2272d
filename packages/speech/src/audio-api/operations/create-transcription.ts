import { dataFrame, EventFrames, type FrameForm } from "@antiphon/base/event-frames.ts";
import type { AudioHandlers } from "@antiphon/contracts/audio/operations.ts";
import type { TranscriptStreamEvent } from "@antiphon/contracts/audio/types.ts";
import type { HeardPart } from "../../recognition/heard-part.ts";
import { type Heard, hearRecording, transcriptOf } from "../hear-recording.ts";
import type { AudioContext, AudioParts } from "../ports.ts";
import { likelyWords, spokenTag } from "../spoken-tag.ts";
import { TranscriptGatherer } from "../transcript.ts";
import { durationOf, languagesOf, logprobsOf } from "../transcript-bodies.ts";
import { lengthHeader, transcriptReply } from "../transcript-reply.ts";

/** `POST /v1/audio/transcriptions`: transcribes a recording. */
export function createTranscription(parts: AudioParts): AudioHandlers<AudioContext>["createTranscription"] {
  return async ({ body }, context) => {
    const { temperature = 0, response_format: format = "json", timestamp_granularities: granularities = [] } = body;
    const showsLogprobs = body.include?.includes("logprobs") === true;
    const recording = await hearRecording(parts, body.file, context, (hearing) => ({
      task: "transcribe",
      language: spokenTag(body, hearing),
      prompt: likelyWords(body),
      temperature,
    }));
    if (body.stream === true && (format === "json" || format === "text"))
      return { status: 200, headers: recording.headers, events: transcriptEvents(recording, showsLogprobs) };
    const transcript = await transcriptOf(recording, "transcribe", temperature);
    const headers = { ...recording.headers, ...lengthHeader(transcript) };
    return { ...transcriptReply(transcript, { format, granularities, showsLogprobs }), headers };
  };
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

import { dataFrame, EventFrames, type FrameForm } from "@antiphon/base/event-frames.ts";
import type { AudioHandlers, CreateSpeechCall } from "@antiphon/contracts/audio/operations.ts";
import type { SpeechStreamEvent } from "@antiphon/contracts/audio/types.ts";
import { FrameGatherer } from "../../audio/pcm.ts";
import { VoiceError } from "../../voices/ports.ts";
import {
  type SettledVoice,
  type SpeechFormat,
  spokenSentences,
  TEXT_SPEECH_RATE_HZ,
  type TextSpeech,
} from "../../voices/text-speech.ts";
import { encoderMissing, nothingToSpeak, tooManyTexts, voiceFailed, voiceMissing } from "../errors.ts";
import type { AudioContext } from "../ports.ts";

type Body = CreateSpeechCall["body"];

const CONTENT_TYPES: Readonly<Record<SpeechFormat, string>> = {
  aac: "audio/aac",
  flac: "audio/flac",
  mp3: "audio/mpeg",
  opus: "audio/ogg",
  pcm: "audio/pcm",
  wav: "audio/wav",
};

const CHARACTERS_PER_TOKEN = 4;
const TOKENS_PER_SECOND = 20;
/** Divisible by 3, so that the texts of all events can be joined. */
const DELTA_BYTES_MAX = 9600;

/** `POST /v1/audio/speech`: speaks a text, and sends the sound while it is made. */
export function createSpeech(speech: TextSpeech): AudioHandlers<AudioContext>["createSpeech"] {
  return async ({ body }, { signal }) => {
    const { input, response_format: format = "mp3", speed = 1, stream_format: streamFormat = "audio" } = body;
    const sentences = spokenSentences(input);
    if (sentences.length === 0) throw nothingToSpeak();
    const { voice, spokenBy } = settledVoice(await speech.settle(voiceName(body), format, signal), format);
    let samples = 0;
    const onSamples = (count: number): void => {
      samples += count;
    };
    const chunks = namedFailure(speech.speak(sentences, { voice, format, speed, onSamples }, signal));
    const headers = { "x-antiphon-voice": spokenBy };
    if (streamFormat === "audio")
      return { status: 200, headers, bytes: { size: null, chunks }, contentType: CONTENT_TYPES[format] };
    const outputTokens = (): number => Math.ceil((samples * TOKENS_PER_SECOND) / TEXT_SPEECH_RATE_HZ);
    const frames = speechFrames(chunks, Math.ceil(input.length / CHARACTERS_PER_TOKEN), outputTokens);
    return { status: 200, headers, events: new EventFrames<SpeechStreamEvent>(frames, FORM) };
  };
}

function voiceName({ voice }: Body): string | null {
  const name = typeof voice === "object" ? voice.id : voice;
  return name === undefined || name === "" ? null : name;
}

function settledVoice(outcome: SettledVoice, format: SpeechFormat): Extract<SettledVoice, { type: "settled" }> {
  switch (outcome.type) {
    case "settled":
      return outcome;
    case "no_voice":
      throw voiceMissing();
    case "no_encoder":
      throw encoderMissing(format);
    case "busy":
      throw tooManyTexts(outcome.textsMax);
  }
}

async function* namedFailure(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } catch (error) {
    throw error instanceof VoiceError ? voiceFailed(error) : error;
  }
}

/** Frames without event names, as the reference sends them. */
const FORM: FrameForm = { end: null, errorFrame: (body) => dataFrame(JSON.stringify(body)) };

async function* speechFrames(
  chunks: AsyncIterable<Uint8Array>,
  inputTokens: number,
  outputTokens: () => number,
): AsyncGenerator<string> {
  const triples = new FrameGatherer(3);
  for await (const chunk of chunks) {
    const bytes = triples.push(chunk);
    for (let start = 0; start < bytes.length; start += DELTA_BYTES_MAX)
      yield speechFrame(deltaOf(bytes.subarray(start, start + DELTA_BYTES_MAX)));
  }
  const rest = triples.end();
  if (rest.length > 0) yield speechFrame(deltaOf(rest));
  const output = outputTokens();
  const usage = { input_tokens: inputTokens, output_tokens: output, total_tokens: inputTokens + output };
  yield speechFrame({ type: "speech.audio.done", usage });
}

function deltaOf(bytes: Uint8Array): SpeechStreamEvent {
  return { type: "speech.audio.delta", audio: Buffer.from(bytes).toString("base64") };
}

function speechFrame(event: SpeechStreamEvent): string {
  return dataFrame(JSON.stringify(event));
}

import { createHash } from "node:crypto";
import type { InputAudio, StoredInputText } from "../../generated/responses-api/types.ts";
import { wavHeader } from "../audio/wav.ts";
import { SpeechError } from "../speech/speech-engine.ts";
import { invalidAudio, missingSampleRate, notHeard, notTranscribed } from "./audio-errors.ts";
import { isBase64 } from "./data-url.ts";
import type { MediaOptions } from "./media-options.ts";
import { sniffType } from "./sniff-type.ts";
import type { TextCache } from "./text-cache.ts";

export interface AudioTools extends MediaOptions {
  readonly texts: TextCache;
}

type Format = InputAudio["input_audio"]["format"];

interface Recording {
  readonly format: Exclude<Format, "pcm">;
  readonly bytes: Uint8Array;
}

const FORMATS: ReadonlyMap<string, Recording["format"]> = new Map([
  ["audio/wav", "wav"],
  ["audio/mpeg", "mp3"],
  ["audio/ogg", "ogg"],
]);
const MIME_TYPES: Readonly<Record<Recording["format"], string>> = {
  wav: "audio/wav",
  mp3: "audio/mpeg",
  ogg: "audio/ogg",
};
const CHANNELS_MAX = 8;
const SAMPLE_RATE_MAX = 768_000;

/** The recording for a model that hears, and for every other one what is said in it. */
export async function readAudio(
  tools: AudioTools,
  part: InputAudio,
  isAlone: boolean,
  signal: AbortSignal,
): Promise<InputAudio | StoredInputText> {
  const recording = readRecording(part.input_audio, tools.limits.audioBytesMax);
  const heard = tools.abilities.audioFormats.find((format) => format === recording.format);
  if (heard !== undefined) return heardPart(heard, part.input_audio.data, recording.bytes, part.input_audio.format);
  const text = await transcript(tools, recording, part.input_audio.language_hint ?? null, signal);
  const warning = tools.speech?.warning() ?? null;
  return {
    type: "input_text",
    text: warning === null ? shown(text, isAlone) : `[${warning}]\n${shown(text, isAlone)}`,
  };
}

/**
 * A message that is nothing but a recording reads as if it had been typed; beside other parts it has to be told apart.
 */
function shown(text: string, isAlone: boolean): string {
  if (text === "") return "[A recording in which nothing is said]";
  return isAlone ? text : `Transcript of a recording:\n${text}`;
}

function readRecording(audio: InputAudio["input_audio"], bytesMax: number): Recording {
  if (!isBase64(audio.data)) throw invalidAudio("'data' is not base64");
  const bytes = Buffer.from(audio.data, "base64");
  if (bytes.length === 0) throw invalidAudio("it is empty");
  if (bytes.length > bytesMax) throw invalidAudio(`it is larger than ${bytesMax} bytes`);
  if (audio.format === "pcm")
    return { format: "wav", bytes: wrapped(bytes, audio.sample_rate_hz, audio.channels ?? 1) };
  const format = FORMATS.get(sniffType(bytes) ?? "");
  if (format === undefined) throw invalidAudio(`it is called ${audio.format}, but is no wav, mp3 or ogg`);
  return { format, bytes };
}

function wrapped(bytes: Uint8Array, sampleRateHz: number | undefined, channels: number): Uint8Array {
  if (sampleRateHz === undefined) throw missingSampleRate();
  if (sampleRateHz > SAMPLE_RATE_MAX) throw invalidAudio(`it has more than ${SAMPLE_RATE_MAX} samples a second`);
  if (channels > CHANNELS_MAX) throw invalidAudio(`it has more than ${CHANNELS_MAX} channels`);
  if (bytes.length % (2 * channels) !== 0)
    throw invalidAudio(
      `pcm of ${channels} channels has 2 bytes a sample and channel, and ${bytes.length} bytes are not whole samples`,
    );
  return Buffer.concat([wavHeader(sampleRateHz, bytes.length, channels), bytes]);
}

function heardPart(format: "mp3" | "wav", sent: string, bytes: Uint8Array, sentFormat: Format): InputAudio {
  const isSame = sentFormat === format && !/[\s_-]/.test(sent);
  const data = isSame ? sent : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  return { type: "input_audio", input_audio: { data, format } };
}

async function transcript(
  { speech, texts }: AudioTools,
  { format, bytes }: Recording,
  language: string | null,
  signal: AbortSignal,
): Promise<string> {
  if (speech === null) throw notHeard(format);
  const key = `speech ${speech.warning() ?? ""} ${language ?? ""} ${createHash("sha256").update(bytes).digest("base64")}`;
  try {
    return await texts.get(key, async () => {
      const text = await speech.transcribeFile(
        { bytes, mimeType: MIME_TYPES[format] },
        { language, caller: null, signal },
      );
      return text.trim();
    });
  } catch (error) {
    throw error instanceof SpeechError ? notTranscribed(error) : error;
  }
}

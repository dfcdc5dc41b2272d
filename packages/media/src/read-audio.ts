import { base64Form, decodeBase64, encodeBase64, sha256 } from "@antiphon/base/limits/long-data.ts";
import type { InputAudio, StoredInputText } from "@antiphon/contracts/responses-api/types.ts";
import { wavHeader } from "@antiphon/speech/audio/wav.ts";
import { SpeechError } from "@antiphon/speech/recognition/speech-engine.ts";
import { audioNotSupported, invalidAudio, missingSampleRate, notTranscribed } from "./audio-errors.ts";
import type { RequestOptions } from "./media-options.ts";
import { sniffType } from "./sniff-type.ts";
import type { TextCache } from "./text-cache.ts";

export interface AudioTools extends RequestOptions {
  readonly texts: TextCache;
}

type Format = InputAudio["input_audio"]["format"];

interface Recording {
  readonly format: Exclude<Format, "pcm">;
  readonly bytes: Uint8Array;
  /** Whether the data, as it was sent, is plain base64 of this format. */
  readonly isPlain: boolean;
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

/**
 * Prepares a recording for the model: the recording itself if the model accepts its format, otherwise its transcript.
 */
export async function readAudio(
  tools: AudioTools,
  part: InputAudio,
  isAlone: boolean,
  signal: AbortSignal,
): Promise<InputAudio | StoredInputText> {
  const recording = await readRecording(part.input_audio, tools.limits.audioBytesMax);
  const acceptedFormat = tools.abilities.audioFormats.find((format) => format === recording.format);
  if (acceptedFormat !== undefined) return await audioPart(acceptedFormat, part.input_audio, recording);
  const text = await transcript(tools, recording, part.input_audio.language_hint ?? null, signal);
  const warning = tools.speech?.warning() ?? null;
  return {
    type: "input_text",
    text: warning === null ? transcriptText(text, isAlone) : `[${warning}]\n${transcriptText(text, isAlone)}`,
  };
}

/** The transcript of a message's only part looks like typed text. Next to other parts, it gets a label. */
function transcriptText(text: string, isAlone: boolean): string {
  if (text === "") return "[A recording in which nothing is said]";
  return isAlone ? text : `Transcript of a recording:\n${text}`;
}

async function readRecording(audio: InputAudio["input_audio"], bytesMax: number): Promise<Recording> {
  const form = await base64Form(audio.data);
  if (form === null) throw invalidAudio("'data' is not base64");
  const bytes = await decodeBase64(audio.data);
  if (bytes.length === 0) throw invalidAudio("it is empty");
  if (bytes.length > bytesMax) throw invalidAudio(`it is larger than ${bytesMax} bytes`);
  if (audio.format === "pcm")
    return { format: "wav", bytes: wavOf(bytes, audio.sample_rate_hz, audio.channels ?? 1), isPlain: false };
  const format = FORMATS.get(sniffType(bytes) ?? "");
  if (format === undefined) throw invalidAudio(`it is declared as ${audio.format}, but is not wav, mp3 or ogg`);
  return { format, bytes, isPlain: form === "plain" && audio.format === format };
}

function wavOf(bytes: Uint8Array, sampleRateHz: number | undefined, channels: number): Uint8Array {
  if (sampleRateHz === undefined) throw missingSampleRate();
  if (sampleRateHz > SAMPLE_RATE_MAX) throw invalidAudio(`it has more than ${SAMPLE_RATE_MAX} samples per second`);
  if (channels > CHANNELS_MAX) throw invalidAudio(`it has more than ${CHANNELS_MAX} channels`);
  if (bytes.length % (2 * channels) !== 0)
    throw invalidAudio(
      `pcm of ${channels} channels has ${2 * channels} bytes per sample, and ${bytes.length} bytes are not whole samples`,
    );
  return Buffer.concat([wavHeader(sampleRateHz, bytes.length, channels), bytes]);
}

async function audioPart(
  format: "mp3" | "wav",
  audio: InputAudio["input_audio"],
  { bytes, isPlain }: Recording,
): Promise<InputAudio> {
  return { type: "input_audio", input_audio: { data: isPlain ? audio.data : await encodeBase64(bytes), format } };
}

async function transcript(
  { speech, texts }: AudioTools,
  { format, bytes }: Recording,
  language: string | null,
  signal: AbortSignal,
): Promise<string> {
  if (speech === null) throw audioNotSupported(format);
  const key = `speech ${speech.warning() ?? ""} ${language ?? ""} ${await sha256(bytes)}`;
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

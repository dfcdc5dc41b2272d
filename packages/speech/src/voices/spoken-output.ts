import { Semaphore } from "@antiphon/base/limits/semaphore.ts";
import type { Logger } from "@antiphon/base/logger.ts";
import type { OutputAudio } from "@antiphon/contracts/responses-api/types.ts";
import type { SettledSpeech, SpeechOutput, SpokenOutput } from "@antiphon/domain/speech.ts";
import { pcmBytes } from "../audio/pcm.ts";
import { wavHeader } from "../audio/wav.ts";
import { type CompressedFormat, type FfmpegEncoders, isCompressed } from "./ffmpeg-encoders.ts";
import { type Encoder, type VoiceEngine, VoiceError } from "./ports.ts";
import { speakTurn } from "./speak-turn.ts";
import { createSpeaker } from "./speaker.ts";

/** Sentences spoken at once, over all answers. Each runs a program or calls a server. */
export const SENTENCES_AT_ONCE_MAX = 8;

const FORMAT_DEFAULT = "pcm16";
const SAMPLE_RATE_HZ_DEFAULT = 24_000;

/** Voice, encoders and log for spoken answers. */
export interface SpokenOutputOptions {
  readonly engine: VoiceEngine;
  /** The voice for requests that name none; null for the engine's default. */
  readonly voice: string | null;
  readonly ffmpegEncoders: FfmpegEncoders;
  readonly log: Logger;
}

export function createSpokenOutput(options: SpokenOutputOptions): SpokenOutput {
  const { engine, ffmpegEncoders, log } = options;
  const slots = new Semaphore(SENTENCES_AT_ONCE_MAX);
  return {
    settle: async (audio, signal) => (await refusal(options, audio, signal)) ?? settleOutput(options, audio),
    speak: (turn, { responseId, speech, signal }) => {
      const { voice, sampleRateHz } = speech;
      const speak = createSpeaker({
        engine,
        voice,
        encode: encoderOf(speech.format, ffmpegEncoders),
        sampleRateHz,
        slots,
        onFault: (fault) =>
          log.warn(
            { err: fault, responseId, voiceEngine: engine.name },
            "voice failed; the rest of the answer has no sound",
          ),
      });
      return speakTurn(turn, speak, signal);
    },
  };
}

function settleOutput(options: SpokenOutputOptions, audio: OutputAudio): SettledSpeech {
  return {
    type: "settled",
    speech: {
      format: audio.format ?? FORMAT_DEFAULT,
      voice: voiceOf(options, audio),
      sampleRateHz: audio.sample_rate_hz ?? SAMPLE_RATE_HZ_DEFAULT,
    },
  };
}

/** The engine's name of the requested voice; null for the engine's default. */
function voiceOf({ engine, voice: defaultVoice }: SpokenOutputOptions, audio: OutputAudio): string | null {
  const voiceName = audio.voice ?? defaultVoice;
  return voiceName === null ? null : engine.voiceFor(voiceName, defaultVoice);
}

async function refusal(
  options: SpokenOutputOptions,
  audio: OutputAudio,
  signal: AbortSignal,
): Promise<SettledSpeech | null> {
  const { engine, voice: defaultVoice, ffmpegEncoders } = options;
  const format = audio.format ?? FORMAT_DEFAULT;
  const voice = voiceOf(options, audio);
  try {
    const voices = await engine.listVoices(signal);
    if (voice !== null && voices?.some(({ name }) => name === voice) === false) {
      const own = voices.filter(({ variantOf }) => variantOf === null).map(({ name }) => name);
      return {
        type: "unknown_voice",
        voice: audio.voice ?? defaultVoice ?? voice,
        voices: [...engine.referenceVoices, ...own],
      };
    }
  } catch (error) {
    if (error instanceof VoiceError) return { type: "refused", param: "output_audio", reason: NO_VOICE };
    throw error;
  }
  if (isCompressed(format) && !(await ffmpegEncoders.canEncode(format, signal)))
    return { type: "refused", param: "output_audio.format", reason: noEncoder(format) };
  return null;
}

const NO_VOICE =
  "This server has no voice: install espeak-ng, or set ESPEAK_PATH to its path, or VOICE_BASE_URL to a server that speaks /v1/audio/speech.";

function noEncoder(format: CompressedFormat): string {
  return `This server has no encoder for '${format}': install ffmpeg, or set FFMPEG_PATH to its path. 'pcm16' and 'wav' need none.`;
}

function encoderOf(format: SpeechOutput["format"], ffmpegEncoders: FfmpegEncoders): Encoder {
  if (isCompressed(format)) return ffmpegEncoders.encoders[format];
  return format === "wav" ? encodeWav : encodePcm16;
}

/** Raw samples: 16 bits, little-endian. */
export const encodePcm16: Encoder = async function* (pcm) {
  for await (const samples of pcm) yield pcmBytes(samples);
};

/** One WAV file. Its header is sent first, so it cannot contain the length. */
export const encodeWav: Encoder = async function* (pcm, sampleRateHz) {
  let isBegun = false;
  for await (const samples of pcm) {
    if (!isBegun) yield wavHeader(sampleRateHz, null);
    isBegun = true;
    yield pcmBytes(samples);
  }
};

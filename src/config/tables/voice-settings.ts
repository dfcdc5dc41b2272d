import type { Setting } from "../setting.ts";

/** The programs and servers that turn answers into speech. */
export const VOICE_SETTINGS = {
  voiceBaseUrl: {
    name: "VOICE_BASE_URL",
    section: "Voices",
    kind: "url",
    default: null,
    defaultText: "espeak-ng, if it is installed",
    text: "OpenAI-compatible server with /v1/audio/speech, such as http://127.0.0.1:8880/v1. It speaks the answers of requests that ask for output_audio.",
  },
  voiceApiKey: {
    name: "VOICE_API_KEY",
    section: "Voices",
    kind: "secret",
    default: null,
    text: "Key for the speech server.",
  },
  voiceModel: {
    name: "VOICE_MODEL",
    section: "Voices",
    kind: "string",
    default: "tts-1",
    text: "Model name sent to the speech server.",
  },
  voiceName: {
    name: "VOICE_NAME",
    section: "Voices",
    kind: "string",
    default: null,
    defaultText: "alloy for a speech server, English for espeak-ng",
    text: "Voice used if the request names none. espeak-ng has one for each language, such as de or en-us.",
  },
  espeakPath: {
    name: "ESPEAK_PATH",
    section: "Voices",
    kind: "path",
    default: null,
    defaultText: "espeak-ng, found on PATH",
    text: "Path of espeak-ng, which speaks answers if VOICE_BASE_URL is not set.",
  },
  ffmpegPath: {
    name: "FFMPEG_PATH",
    section: "Voices",
    kind: "path",
    default: null,
    defaultText: "ffmpeg, found on PATH",
    text: "Path of ffmpeg, which encodes speech as mp3 and opus, and decodes recordings in mp3 and m4a.",
  },
} as const satisfies Readonly<Record<string, Setting>>;

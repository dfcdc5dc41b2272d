import type { Setting } from "./setting.ts";

/** Who speaks spoken answers. */
export const VOICE_SETTINGS = {
  voiceBaseUrl: {
    name: "VOICE_BASE_URL",
    section: "Voices",
    kind: "url",
    default: null,
    defaultText: "espeak-ng, if it is installed",
    text: "An OpenAI-compatible server that speaks /v1/audio/speech, such as http://127.0.0.1:8880/v1. It speaks the answers that are asked for with output_audio.",
  },
  voiceApiKey: {
    name: "VOICE_API_KEY",
    section: "Voices",
    kind: "secret",
    default: null,
    text: "The key that the speech server asks for.",
  },
  voiceModel: {
    name: "VOICE_MODEL",
    section: "Voices",
    kind: "string",
    default: "tts-1",
    text: "The model that the speech server is asked for.",
  },
  voiceName: {
    name: "VOICE_NAME",
    section: "Voices",
    kind: "string",
    default: null,
    defaultText: "alloy for a speech server, English for espeak-ng",
    text: "The voice of answers whose request names none. espeak-ng has one for each language, such as de or en-us.",
  },
  espeakPath: {
    name: "ESPEAK_PATH",
    section: "Voices",
    kind: "path",
    default: null,
    defaultText: "espeak-ng, found on PATH",
    text: "The program espeak-ng, which speaks where VOICE_BASE_URL is not set.",
  },
  ffmpegPath: {
    name: "FFMPEG_PATH",
    section: "Voices",
    kind: "path",
    default: null,
    defaultText: "ffmpeg, found on PATH",
    text: "The program ffmpeg, which makes mp3 and opus of what is spoken, and reads recordings in mp3 and m4a.",
  },
} as const satisfies Readonly<Record<string, Setting>>;

import type { AudioHandlers } from "@antiphon/contracts/audio/operations.ts";
import { neighbourAudio } from "./neighbour-audio.ts";
import { createSpeech } from "./operations/create-speech.ts";
import { createTranscription } from "./operations/create-transcription.ts";
import { createTranslation } from "./operations/create-translation.ts";
import { listAudioModels } from "./operations/list-audio-models.ts";
import { listAudioVoices } from "./operations/list-audio-voices.ts";
import type { AudioContext, AudioParts } from "./ports.ts";

type WithSecrets = "createRealtimeClientSecret" | "createRealtimeTranscriptionSession";

/** The audio routes of both interfaces, except those of live transcription. */
export function audioHandlers(parts: AudioParts): Omit<AudioHandlers<AudioContext>, WithSecrets> {
  return {
    createTranscription: createTranscription(parts),
    createTranslation: createTranslation(parts),
    createSpeech: createSpeech(parts.speech),
    listAudioModels: listAudioModels(parts),
    listAudioVoices: listAudioVoices(parts),
    ...(parts.neighbour === null ? {} : neighbourAudio(parts.neighbour, parts.recordingBytesMax)),
  };
}

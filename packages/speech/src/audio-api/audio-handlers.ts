import type { AudioHandlers } from "@antiphon/contracts/audio/operations.ts";
import { createTranscription } from "./operations/create-transcription.ts";
import { createTranslation } from "./operations/create-translation.ts";
import { listAudioModels } from "./operations/list-audio-models.ts";
import type { AudioContext, AudioParts } from "./ports.ts";

/** The audio routes of both interfaces. */
export function audioHandlers(parts: AudioParts): AudioHandlers<AudioContext> {
  return {
    createTranscription: createTranscription(parts),
    createTranslation: createTranslation(parts),
    listAudioModels: listAudioModels(parts),
  };
}

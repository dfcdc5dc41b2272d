import type { AudioHandlers } from "@antiphon/contracts/audio/operations.ts";
import type { AudioContext, AudioParts } from "../ports.ts";

/** `GET /v1/audio/voices`: the voices that requests may name. */
export function listAudioVoices({ speech }: AudioParts): AudioHandlers<AudioContext>["listAudioVoices"] {
  return async (_request, { signal }) => {
    const names = await speech.voiceNames(signal);
    return { status: 200, body: { voices: names.map((name) => ({ id: name, name })) } };
  };
}

import type { AudioHandlers } from "@antiphon/contracts/audio/operations.ts";
import type { AudioContext, AudioParts } from "../ports.ts";

/** `GET /v1/audio/models`: the model of the speech engine. */
export function listAudioModels({ hearing }: AudioParts): AudioHandlers<AudioContext>["listAudioModels"] {
  return async () => {
    const model = hearing?.model() ?? null;
    return { status: 200, body: { models: model === null ? [] : [{ id: model }] } };
  };
}

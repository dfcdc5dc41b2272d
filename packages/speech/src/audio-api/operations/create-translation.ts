import type { AudioHandlers } from "@antiphon/contracts/audio/operations.ts";
import { translationNotOffered } from "../errors.ts";
import { hearRecording, transcriptOf } from "../hear-recording.ts";
import type { AudioContext, AudioParts } from "../ports.ts";
import { lengthHeader, transcriptReply } from "../transcript-reply.ts";

/** `POST /v1/audio/translations`: what is said in a recording, in English. */
export function createTranslation(parts: AudioParts): AudioHandlers<AudioContext>["createTranslation"] {
  return async ({ body }, context) => {
    const { temperature = 0, response_format: format = "json", prompt = "" } = body;
    const recording = await hearRecording(parts, body.file, context, (hearing) => {
      if (!hearing.canTranslate()) throw translationNotOffered(hearing.model());
      return { task: "translate", language: null, prompt: prompt === "" ? null : prompt, temperature };
    });
    const transcript = await transcriptOf(recording, "translate", temperature);
    const reply = transcriptReply(transcript, { format, granularities: ["segment"], showsLogprobs: false });
    return { ...reply, headers: { ...recording.headers, ...lengthHeader(transcript) } };
  };
}

import type {
  RealtimeAudioInput,
  RealtimeSession,
  RealtimeTranscriptionConfig,
  RealtimeTurnDetection,
} from "@antiphon/contracts/audio/types.ts";
import { spokenTag } from "../audio-api/spoken-tag.ts";
import type { PieceHearing } from "./ports.ts";

/** The settings of a session. */
export type SessionSettings = Pick<RealtimeSession, "audio" | "include">;

/**
 * Models of the reference that send words while a turn goes on, and leave turns to their client. Clients that name one
 * expect so.
 */
export function isLiveModel(model = ""): boolean {
  return /^gpt-(?:live-transcribe|realtime-whisper)/.test(model);
}

/** What a session has while the client has set nothing. `model`: the name that is shown. */
export function initialSettings(model: string): SessionSettings {
  const input: RealtimeAudioInput = {
    format: { type: "audio/pcm", rate: 24_000 },
    transcription: { model },
    noise_reduction: null,
    turn_detection: fullDetection({ type: "server_vad" }),
  };
  return { audio: { input }, include: [] };
}

/** Where the languages stand in a session.update, with the last point. */
const ROOT = "session.audio.input.transcription.";

/**
 * The settings after a change. Members that it lacks stay as they are. Throws an `ApiError` for a language that the
 * model does not know.
 */
export function changedSettings(
  settings: SessionSettings,
  { audio, include }: RealtimeTranscriptionConfig,
  hearing: Pick<PieceHearing, "knowsLanguage" | "model">,
): SessionSettings {
  const { input: before } = settings.audio;
  const input = audio?.input ?? {};
  const transcription = { ...before.transcription, ...input.transcription };
  spokenTag(transcription, hearing, ROOT);
  const unset = isLiveModel(input.transcription?.model) ? null : before.turn_detection;
  const { turn_detection: detection = unset, noise_reduction: noise = before.noise_reduction } = input;
  return {
    audio: {
      input: {
        format: fullFormat(input.format ?? before.format),
        transcription,
        noise_reduction: noise,
        turn_detection: detection === null ? null : fullDetection(detection),
      },
    },
    include: include ?? settings.include,
  };
}

function fullFormat(format: RealtimeAudioInput["format"]): RealtimeAudioInput["format"] {
  return format.type === "audio/pcm" ? { type: format.type, rate: format.rate ?? 24_000 } : { type: format.type };
}

/** With the members that the client left out, and without those that have no effect. */
function fullDetection(detection: RealtimeTurnDetection): RealtimeTurnDetection {
  if (detection.type === "semantic_vad") return { type: detection.type, eagerness: detection.eagerness ?? "auto" };
  const { type, threshold = 0.5, prefix_padding_ms: prefix = 300, silence_duration_ms: silence = 500 } = detection;
  const full = { type, threshold, prefix_padding_ms: prefix, silence_duration_ms: silence };
  return { ...full, idle_timeout_ms: detection.idle_timeout_ms ?? null };
}

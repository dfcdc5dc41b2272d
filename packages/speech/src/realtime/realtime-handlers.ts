import type {
  AudioHandlers,
  CreateRealtimeClientSecretCall,
  CreateRealtimeTranscriptionSessionCall,
} from "@antiphon/contracts/audio/operations.ts";
import type {
  RealtimeAudioFormat,
  RealtimeSession,
  RealtimeTranscriptionConfig,
} from "@antiphon/contracts/audio/types.ts";
import { speechNotSetUp } from "../audio-api/errors.ts";
import type { ClientSecrets, SecretHolder } from "./client-secrets.ts";
import type { PieceHearing } from "./ports.ts";
import { newSessionFacts, openingSettings } from "./run-realtime.ts";

type SecretOperation = "createRealtimeClientSecret" | "createRealtimeTranscriptionSession";

/** What the operations work with. */
export interface SecretParts<Context> {
  /** Null if there is no speech engine. */
  readonly pieces: PieceHearing | null;
  readonly secrets: ClientSecrets;
  /** Whom the secrets of a caller act for; null where callers need no keys. */
  readonly holderOf: (context: Context) => SecretHolder | null;
}

const LIFETIME_SECONDS = 600;

/** `POST /v1/realtime/client_secrets` and its older form, `POST /v1/realtime/transcription_sessions`. */
export function realtimeHandlers<Context>(parts: SecretParts<Context>): Pick<AudioHandlers<Context>, SecretOperation> {
  const make = (settings: RealtimeTranscriptionConfig, seconds: number, context: Context): MadeSecret => {
    if (parts.pieces === null) throw speechNotSetUp();
    const initial = openingSettings({}, settings, parts.pieces);
    const session: RealtimeSession = {
      type: "transcription",
      object: "realtime.transcription_session",
      ...newSessionFacts(),
      ...initial,
    };
    const expiresAt = Math.floor(Date.now() / 1000) + seconds;
    const value = parts.secrets.make({ holder: parts.holderOf(context), settings, expiresAt });
    return { value, expires_at: expiresAt, session };
  };
  return {
    createRealtimeClientSecret: ({ body }: CreateRealtimeClientSecretCall, context) => {
      const { session = { type: "transcription" }, expires_after: expiry = {} } = body;
      return Promise.resolve({ status: 200, body: make(session, expiry.seconds ?? LIFETIME_SECONDS, context) });
    },
    createRealtimeTranscriptionSession: ({ body }: CreateRealtimeTranscriptionSessionCall, context) => {
      const { value, expires_at, session } = make(generalForm(body), LIFETIME_SECONDS, context);
      const { input } = session.audio;
      return Promise.resolve({
        status: 200,
        body: {
          id: session.id,
          object: session.object,
          client_secret: { value, expires_at },
          input_audio_format: body.input_audio_format ?? "pcm16",
          input_audio_transcription: input.transcription,
          turn_detection: input.turn_detection,
        },
      });
    },
  };
}

interface MadeSecret {
  readonly value: string;
  readonly expires_at: number;
  readonly session: RealtimeSession;
}

const FORMATS: Readonly<Record<"g711_alaw" | "g711_ulaw" | "pcm16", RealtimeAudioFormat>> = {
  pcm16: { type: "audio/pcm", rate: 24_000 },
  g711_ulaw: { type: "audio/pcmu" },
  g711_alaw: { type: "audio/pcma" },
};

function generalForm(body: CreateRealtimeTranscriptionSessionCall["body"]): RealtimeTranscriptionConfig {
  const { input_audio_noise_reduction: noise, input_audio_transcription: transcription, turn_detection } = body;
  return {
    type: "transcription",
    audio: {
      input: {
        format: FORMATS[body.input_audio_format ?? "pcm16"],
        ...(transcription === undefined ? {} : { transcription }),
        ...(noise === undefined ? {} : { noise_reduction: noise }),
        ...(turn_detection === undefined ? {} : { turn_detection }),
      },
    },
    ...(body.include === undefined ? {} : { include: body.include }),
  };
}

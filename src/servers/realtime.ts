import { randomBytes } from "node:crypto";
import type { RealtimeTranscriptionConfig } from "@antiphon/contracts/audio/types.ts";
import type { Upgrade } from "@antiphon/http-kit/websocket/websocket.ts";
import type { AudioParts } from "@antiphon/speech/audio-api/ports.ts";
import type { SessionParts } from "@antiphon/speech/local-stt/run-session.ts";
import { type ClientSecrets, clientSecretIn, REALTIME_PROTOCOL } from "@antiphon/speech/realtime/client-secrets.ts";
import { enginePieces } from "@antiphon/speech/realtime/engine-pieces.ts";
import { realtimeErrorEvent, secretNotValid } from "@antiphon/speech/realtime/errors.ts";
import { neighbourPieces } from "@antiphon/speech/realtime/neighbour-pieces.ts";
import type { PieceHearing } from "@antiphon/speech/realtime/ports.ts";
import { REALTIME_EVENT_BYTES_MAX, REALTIME_QUERY, runRealtime } from "@antiphon/speech/realtime/run-realtime.ts";
import type { Config } from "../config/load-config.ts";
import { type RealtimeDoor, type RealtimeLimits, sealedClientSecrets } from "../faces/audio/realtime-door.ts";
import { createSealer } from "../responses-api/seal.ts";
import type { HandlerContexts } from "./handlers/responses-api-handlers.ts";

/** Who hears live sound: this process, or the one that has the engine. Null if there is none. */
export function choosePieces({ hearing, neighbour }: Pick<AudioParts, "hearing" | "neighbour">): PieceHearing | null {
  if (hearing !== null) return enginePieces(hearing);
  return neighbour === null ? null : neighbourPieces(neighbour);
}

/** What live transcription of Interface A works with. */
export function realtimeDoor({ audio, creating }: Pick<HandlerContexts, "audio" | "creating">): RealtimeDoor {
  const { budgets, limiter, ordering, preparing } = creating;
  const secrets = sealedClientSecrets(preparing.sealer);
  return { pieces: choosePieces(audio), accounts: { budgets, limiter, meter: ordering.meter }, secrets };
}

/** The limits of sessions of Interface A. */
export function realtimeLimits(config: Config): RealtimeLimits {
  return {
    idleMs: config.sttIdleTimeoutMs,
    sessionsMax: config.sttStreamsMax,
    sessionsOfKeyMax: config.websocketConnectionsPerKeyMax,
  };
}

const SEAL_KEY_BYTES = 32;

/** Client secrets of a server without keys: they carry settings, and end with the process. */
export function passingSecrets(): ClientSecrets {
  const key = randomBytes(SEAL_KEY_BYTES);
  return sealedClientSecrets(createSealer(() => [key]));
}

/** `GET /v1/realtime` of Interface B, whose sessions share the places of its other streams. */
export function localRealtime(
  pieces: PieceHearing | null,
  secrets: ClientSecrets,
  { places, idleMs, observer }: SessionParts,
): Upgrade<null> {
  const takePlace = (): (() => void) => {
    const giveBack = places.take();
    const onClose = observer.streamOpened();
    return () => {
      giveBack();
      onClose();
    };
  };
  return {
    path: "/v1/realtime",
    secured: false,
    protocols: [REALTIME_PROTOCOL],
    messageBytesMax: REALTIME_EVENT_BYTES_MAX,
    query: REALTIME_QUERY,
    ...(pieces === null ? {} : { admit: () => places.check() }),
    errorMessage: (error) => realtimeErrorEvent(error, null),
    handle: (events, { requestId, log, signal, peer }, query) => {
      const settings = (): RealtimeTranscriptionConfig | null => secretSettings(clientSecretIn(peer.headers), secrets);
      const call = { requestId, log, signal, settings, query, onHeard: () => {} };
      return runRealtime({ pieces, takePlace, idleMs }, events, call);
    },
  };
}

function secretSettings(secret: string | null, secrets: ClientSecrets): RealtimeTranscriptionConfig | null {
  if (secret === null) return null;
  const content = secrets.open(secret);
  if (content === null) throw secretNotValid();
  return content.settings;
}

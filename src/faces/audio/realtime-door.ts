import { hashApiKey } from "@antiphon/base/api-key.ts";
import type { AudioHandlers } from "@antiphon/contracts/audio/operations.ts";
import type { RealtimeTranscriptionConfig } from "@antiphon/contracts/audio/types.ts";
import type { KeyFinder } from "@antiphon/domain/keys.ts";
import type { Upgrade } from "@antiphon/http-kit/websocket/websocket.ts";
import {
  ClientSecrets,
  clientSecretIn,
  REALTIME_PROTOCOL,
  realtimeKeyIn,
  type SecretHolder,
} from "@antiphon/speech/realtime/client-secrets.ts";
import { realtimeErrorEvent, secretNotValid, tooManySessions } from "@antiphon/speech/realtime/errors.ts";
import type { PieceHearing } from "@antiphon/speech/realtime/ports.ts";
import { realtimeHandlers } from "@antiphon/speech/realtime/realtime-handlers.ts";
import { REALTIME_EVENT_BYTES_MAX, REALTIME_QUERY, runRealtime } from "@antiphon/speech/realtime/run-realtime.ts";
import { Admission } from "../../responses-api/access/admission.ts";
import {
  apiKeyIn,
  createAuthenticator,
  type Principal,
  principalOf,
  type RequestHeaders,
} from "../../responses-api/access/authenticate.ts";
import type { Caller } from "../../responses-api/access/caller.ts";
import type { KeyAccounts } from "../../responses-api/access/key-accounts.ts";
import { tooManyWebSocketsOfKey } from "../../responses-api/errors/websocket-errors.ts";
import type { Sealer } from "../../responses-api/seal.ts";

/** What live transcription of Interface A works with. */
export interface RealtimeDoor {
  /** Null if nobody hears. */
  readonly pieces: PieceHearing | null;
  readonly accounts: KeyAccounts;
  readonly secrets: ClientSecrets;
}

export interface RealtimeLimits {
  readonly idleMs: number;
  readonly sessionsMax: number;
  readonly sessionsOfKeyMax: number;
}

const PATH = "/v1/realtime";
const MS_PER_SECOND = 1000;
const SEAL_OWNER = "realtime client secret";

/** Client secrets that every server with the same seal keys opens. */
export function sealedClientSecrets(sealer: Sealer): ClientSecrets {
  return new ClientSecrets({
    seal: (text) => sealer.seal(text, "", SEAL_OWNER),
    open: (text) => sealer.open(text, SEAL_OWNER),
  });
}

/** The operations that make client secrets, within the limits of keys. */
export function admittedSecrets({ pieces, accounts, secrets }: RealtimeDoor): SecretHandlers {
  const handlers = realtimeHandlers<Caller>({ pieces, secrets, holderOf });
  const headersOf = async ({ principal }: Caller): Promise<Readonly<Record<string, string>>> =>
    (await Admission.open(accounts.limiter, principal)).headers;
  return {
    createRealtimeClientSecret: async (request, caller) => {
      const headers = await headersOf(caller);
      return { ...(await handlers.createRealtimeClientSecret(request, caller)), headers };
    },
    createRealtimeTranscriptionSession: async (request, caller) => {
      const headers = await headersOf(caller);
      return { ...(await handlers.createRealtimeTranscriptionSession(request, caller)), headers };
    },
  };
}

type SecretHandlers = Pick<AudioHandlers<Caller>, "createRealtimeClientSecret" | "createRealtimeTranscriptionSession">;

function holderOf({ principal, peer }: Caller): SecretHolder {
  const { organization, project } = principal.owner;
  return { keyHash: hashApiKey(apiKeyIn(headersOfPeer(peer)) ?? ""), organization, project };
}

function headersOfPeer({ headers }: Caller["peer"]): RequestHeaders {
  return { ...textHeader(headers, "authorization"), ...textHeader(headers, "x-api-key") };
}

function textHeader(headers: Caller["peer"]["headers"], name: string): RequestHeaders {
  const value = headers[name];
  return typeof value === "string" ? { [name]: value } : {};
}

/** `GET /v1/realtime`: sessions of Interface A. A session counts as a request of its key. */
export function realtimeUpgrade(door: RealtimeDoor, keys: KeyFinder, limits: RealtimeLimits): Upgrade<Principal> {
  const { pieces, accounts, secrets } = door;
  return {
    path: PATH,
    secured: true,
    authenticate: realtimeAuthenticator(keys, secrets),
    protocols: [REALTIME_PROTOCOL],
    messageBytesMax: REALTIME_EVENT_BYTES_MAX,
    query: REALTIME_QUERY,
    room: {
      socketsMax: limits.sessionsMax,
      refuse: (sessionsMax) => tooManySessions(sessionsMax, "STT_STREAMS_MAX"),
      perCaller: {
        socketsMax: limits.sessionsOfKeyMax,
        nameOf: ({ keyId }) => keyId,
        refuse: tooManyWebSocketsOfKey,
      },
    },
    admitCaller: async (principal) => {
      await accounts.budgets.requireRoom(principal);
      await Admission.open(accounts.limiter, principal);
    },
    errorMessage: (error) => realtimeErrorEvent(error, null),
    handle: (events, { requestId, log, signal, peer, principal: { owner, keyId } }, query) => {
      const secret = clientSecretIn(peer.headers);
      const settings = (): RealtimeTranscriptionConfig | null =>
        secret === null ? null : (secrets.open(secret)?.settings ?? null);
      const onHeard = (seconds: number, model: string): void =>
        accounts.meter.noteHearing({ owner, keyId, model }, seconds * MS_PER_SECOND);
      const parts = { pieces, takePlace: () => () => {}, idleMs: limits.idleMs };
      return runRealtime(parts, events, { requestId, log, signal, settings, query, onHeard });
    },
  };
}

/** Takes keys and client secrets, as a Bearer or in the subprotocol of browsers. */
function realtimeAuthenticator(keys: KeyFinder, secrets: ClientSecrets) {
  const authenticate = createAuthenticator(keys);
  return async (headers: RequestHeaders): Promise<Principal> => {
    const secret = clientSecretIn(headers);
    if (secret === null) {
      const key = realtimeKeyIn(headers);
      return authenticate(key === null ? headers : { ...headers, authorization: `Bearer ${key}` });
    }
    const holder = secrets.open(secret)?.holder ?? null;
    const key = holder === null ? null : await keys.findByHash(holder.keyHash);
    if (holder === null || key === null) throw secretNotValid();
    return principalOf(key, { "openai-organization": holder.organization, "openai-project": holder.project });
  };
}

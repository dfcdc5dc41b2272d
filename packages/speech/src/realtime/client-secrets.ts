import { randomHex } from "@antiphon/base/ids.ts";
import { readOwnJson } from "@antiphon/base/json/read-json.ts";
import type { RealtimeTranscriptionConfig } from "@antiphon/contracts/audio/types.ts";
import { settingsTooLarge } from "./errors.ts";

/** Encrypts text so that only this server can read it. */
export interface SecretSeal {
  seal(text: string): string;
  /** Null if the text is not from this server or was changed. */
  open(sealedText: string): string | null;
}

/** The key that a client secret stands for, without the key itself, and the owner that it acts for. */
export interface SecretHolder {
  readonly keyHash: string;
  readonly organization: string;
  readonly project: string;
}

export interface SecretContent {
  /** Null where callers need no keys. */
  readonly holder: SecretHolder | null;
  readonly settings: RealtimeTranscriptionConfig;
  /** In Unix seconds. */
  readonly expiresAt: number;
}

const PREFIX = "ek_";
/** With them, a key fits into the headers of a request. */
const SETTINGS_BYTES_MAX = 4096;
/** The subprotocol by which browsers send keys. */
const PROTOCOL = "openai-insecure-api-key.";
/** The subprotocol of sessions. */
export const REALTIME_PROTOCOL = "realtime";

/** Makes keys that open sessions and nothing else. Their content is sealed inside them, so none is stored. */
export class ClientSecrets {
  readonly #seal: SecretSeal;

  constructor(seal: SecretSeal) {
    this.#seal = seal;
  }

  /** Throws an `ApiError` if the settings are too large for a key. */
  make(content: SecretContent): string {
    const bytes = Buffer.byteLength(JSON.stringify(content.settings));
    if (bytes > SETTINGS_BYTES_MAX) throw settingsTooLarge(SETTINGS_BYTES_MAX, bytes);
    return PREFIX + this.#seal.seal(JSON.stringify({ ...content, id: randomHex(16) }));
  }

  /** Null if the key is not from this server, was changed, or has expired. */
  open(secret: string): SecretContent | null {
    const text = this.#seal.open(secret.slice(PREFIX.length));
    if (text === null) return null;
    const content = readOwnJson<SecretContent>(text);
    return content.expiresAt > Date.now() / 1000 ? content : null;
  }
}

/** The client secret among the headers of a request; null if there is none. */
export function clientSecretIn(headers: Readonly<Record<string, unknown>>): string | null {
  const key = realtimeKeyIn(headers);
  return key?.startsWith(PREFIX) === true ? key : null;
}

/** The key of a request: a Bearer, or in the subprotocol of browsers. Null if there is none. */
export function realtimeKeyIn(headers: Readonly<Record<string, unknown>>): string | null {
  const bearer = /^Bearer +(\S+) *$/i.exec(headerText(headers["authorization"]))?.[1];
  if (bearer !== undefined) return bearer;
  const protocols = headerText(headers["sec-websocket-protocol"]).split(",");
  const protocol = protocols.map((one) => one.trim()).find((one) => one.startsWith(PROTOCOL));
  return protocol === undefined ? null : protocol.slice(PROTOCOL.length);
}

function headerText(header: unknown): string {
  return typeof header === "string" ? header : "";
}

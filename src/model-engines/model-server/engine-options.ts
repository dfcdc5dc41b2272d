import { assert } from "@antiphon/base/assert.ts";
import type { Dispatcher } from "undici";
import { openConnections } from "./connections/model-connections.ts";
import type { ModelServerSecrets } from "./errors/redact.ts";

const CONNECTIONS_MAX = 512;
const KEY_SETTING = "MODEL_API_KEY";

/** Sent to every model server. */
export const USER_AGENT = "antiphon";
/** How long the refusal of an unknown model waits for the names of existing models, in milliseconds. */
export const NAMES_MS_MAX = 2_000;

export interface ServerTimeouts {
  /** Maximum time to connect. */
  readonly connectMs: number;
  /** Maximum time without a byte, both before and within the answer. */
  readonly idleMs: number;
  /** Maximum time of the whole turn. */
  readonly totalMs: number;
}

/** What every engine needs to know of its model server. */
export interface ServerEngineOptions {
  /** Such as `http://127.0.0.1:11434/v1`. A query, as required by Azure, is added to every call. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  /** Where the operator sets the key, as errors name it. */
  readonly keySetting?: string;
  /** Sent with every call. Names are in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Shown in logs and in the start banner. */
  readonly name?: string;
  readonly timeouts: ServerTimeouts;
  /** Maximum number of connections. Each carries one turn at a time; further turns wait. */
  readonly connectionsMax?: number;
  /** Maximum inputs of one call for embeddings, and documents of one call for ranks. More are split. */
  readonly embeddingInputsMax?: number;
  /** Tokens of input and answer together, as set by the operator. Null: as reported by the server. */
  readonly contextWindow?: number | null;
  /** Called with a sentence if the server broke the protocol in a way that was corrected. */
  readonly onWarning?: (warning: string, model: string) => void;
  /** The Unix socket that every call goes to, whatever the host of the base URL. */
  readonly socketPath?: string;
  /** Used instead of the engine's own connections. The dispatcher then applies its own connect timeout. */
  readonly fetchDispatcher?: Dispatcher;
}

/** A model server that can be asked. */
export interface OpenedServer {
  readonly baseUrl: URL;
  readonly dispatcher: Dispatcher;
  readonly secrets: ModelServerSecrets;
}

/** Opens connections to a model server when they are needed. */
export function openModelServer(options: ServerEngineOptions): OpenedServer {
  const { apiKey, timeouts, connectionsMax = CONNECTIONS_MAX, keySetting = KEY_SETTING, socketPath = null } = options;
  const baseUrl = new URL(options.baseUrl);
  assert(/^https?:$/.test(baseUrl.protocol), "the base URL of a model server must be http or https");
  const dispatcher =
    options.fetchDispatcher ?? openConnections({ connectionsMax, connectMs: timeouts.connectMs, socketPath });
  return { baseUrl, dispatcher, secrets: { apiKey, keySetting, host: baseUrl.host } };
}

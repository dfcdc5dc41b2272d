import { isRecord } from "@antiphon/base/json/records.ts";
import { isNotOffered, type ServerReply } from "../ask-server.ts";
import { isList } from "../json-values.ts";

const VERSION = "/v1";
const LOOK_MS_MAX = 5000;

export interface ApiPathOptions {
  /** The path of the base URL, without a trailing slash. */
  readonly basePath: string;
  /** Requests the list of models below a path; null if no reply came. */
  readonly listModels: (apiPath: string, signal: AbortSignal) => Promise<ServerReply | null>;
  /** Called with the path of the API if it is below the configured path. */
  readonly onFound: (apiPath: string) => void;
}

/**
 * The path of a server's API, such as `/v1`. Operators often omit it from the base URL, so the list of models is
 * searched for.
 */
export class ApiPath {
  readonly #options: ApiPathOptions;
  #path: string;
  #isKnown: boolean;
  #looking: Promise<void> | null = null;

  constructor(options: ApiPathOptions) {
    this.#options = options;
    this.#path = options.basePath;
    this.#isKnown = options.basePath.endsWith(VERSION);
  }

  /** The path as known so far. */
  get current(): string {
    return this.#path;
  }

  /** Searches for the path if it is unknown. Does nothing if the server does not reply. Never rejects. */
  async find(): Promise<void> {
    if (this.#isKnown) return;
    this.#looking ??= this.#look(AbortSignal.timeout(LOOK_MS_MAX)).finally(() => {
      this.#looking = null;
    });
    await this.#looking;
  }

  async #look(signal: AbortSignal): Promise<void> {
    const { basePath, listModels, onFound } = this.#options;
    const reply = await listModels(basePath, signal);
    if (isUndecided(reply)) return;
    const below = `${basePath}${VERSION}`;
    const other = isElsewhere(reply) ? await listModels(below, signal) : null;
    if (isElsewhere(reply) && isUndecided(other)) return;
    this.#isKnown = true;
    if (other === null || isElsewhere(other)) return;
    this.#path = below;
    onFound(below);
  }
}

function isUndecided(reply: ServerReply | null): reply is null {
  return reply === null || (reply.status >= 500 && !isNotOffered(reply));
}

/** Whether the list of models is missing. A refused key, or too many requests, mean that it exists. */
function isElsewhere(reply: ServerReply): boolean {
  if (isNotOffered(reply)) return true;
  if (reply.status >= 400) return false;
  const { body } = reply;
  return !isList(isRecord(body) ? (body["data"] ?? body["models"]) : body);
}

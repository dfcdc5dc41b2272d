import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import { readBodyStart } from "@antiphon/base/limits/read-body-start.ts";
import type { ModelDescription } from "@antiphon/domain/models/model-engine.ts";
import { ModelError, NO_MODEL_LIST } from "@antiphon/domain/models/model-error.ts";
import type { ServerAddress } from "./ask-server.ts";
import { brokenAnswer, tooSlow } from "./errors/model-errors.ts";
import { explainTransportError } from "./errors/transport-error.ts";
import { explainRefusal } from "./errors/upstream-error.ts";
import { countOrZero, isList, textOrNull } from "./json-values.ts";

/** Statuses that mean that a server has no list of models. */
const NO_LIST: ReadonlySet<number> = new Set([404, 405, 501]);

const FRESH_MS = 30_000;
const BODY_BYTES_MAX = 8 * 1024 * 1024;
const MODELS_MAX = 10_000;

export interface ModelListOptions {
  readonly server: ServerAddress;
  readonly timeoutMs: number;
  /** Added to the query, such as `limit=1000`. */
  readonly query?: string;
}

/** The models of a server, cached for 30 seconds. Failures are not cached. */
export class ModelList {
  readonly #options: ModelListOptions;
  #latest: { readonly models: readonly ModelDescription[]; readonly readAtMs: number } | null = null;

  constructor(options: ModelListOptions) {
    this.#options = options;
  }

  async read(signal: AbortSignal): Promise<readonly ModelDescription[]> {
    const nowMs = performance.now();
    if (this.#latest !== null && nowMs - this.#latest.readAtMs < FRESH_MS) return this.#latest.models;
    const models = await this.#fetch(signal);
    this.#latest = { models, readAtMs: nowMs };
    return models;
  }

  async #fetch(signal: AbortSignal): Promise<readonly ModelDescription[]> {
    const { server, timeoutMs, query = "" } = this.#options;
    const search = [server.search.slice(1), query].filter((part) => part !== "").join("&");
    const { dispatcher, origin, headers } = server;
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    try {
      const reply = await dispatcher.request({
        origin,
        path: `${server.apiPath}/models${search === "" ? "" : `?${search}`}`,
        method: "GET",
        headers: { ...headers, accept: "application/json" },
        signal: deadline,
      });
      const body = await readBodyStart(reply.body, BODY_BYTES_MAX);
      if (reply.statusCode === 200) return readModels(body);
      const context = { model: "", ...server.secrets };
      throw listRefused(
        explainRefusal({ status: reply.statusCode, headers: reply.headers, body }, context, Date.now()),
        reply.statusCode,
      );
    } catch (error) {
      if (error instanceof ModelError || signal.aborted) throw error;
      if (deadline.aborted) throw tooSlow(`did not list its models within ${timeoutMs / 1000} s`, error);
      throw explainTransportError(error, timeoutMs);
    }
  }
}

/** A client that asks for the list sends no parameters, so a refusal is never its fault. */
function listRefused(refusal: ModelError, status: number): ModelError {
  if (NO_LIST.has(status)) {
    const fields = { status: 502, type: "server_error", code: NO_MODEL_LIST } as const;
    return new ModelError("The model server has no list of its models.", fields);
  }
  return refusal.type === "invalid_request_error"
    ? brokenAnswer(`refused to list its models, with status ${status}`)
    : refusal;
}

/** Reads `{data: […]}`, `{models: […]}` or a bare list, whose entries are objects or names. */
export function readModels(body: string): readonly ModelDescription[] {
  const json = jsonOrUndefined(body);
  const entries = isRecord(json) ? (json["data"] ?? json["models"]) : json;
  if (!isList(entries)) throw brokenAnswer("sent a list of models that could not be read");
  return entries.slice(0, MODELS_MAX).flatMap((entry) => {
    const model = typeof entry === "string" ? { id: entry } : entry;
    const id = isRecord(model) ? (textOrNull(model["id"]) ?? textOrNull(model["name"])) : null;
    if (id === null || !isRecord(model)) return [];
    const created = countOrZero(model["created"]) || secondsOf(model["created_at"]);
    return [{ id, created, ownedBy: textOrNull(model["owned_by"]) ?? "unknown" }];
  });
}

/** The Unix seconds of a date, as Anthropic writes it; 0 for anything else. */
function secondsOf(date: unknown): number {
  return typeof date === "string" ? countOrZero(Date.parse(date) / 1000) : 0;
}

import { isRecord } from "@antiphon/base/json/records.ts";
import { LRUCache } from "lru-cache";
import { askServer, type ServerAddress } from "./ask-server.ts";
import { isList, type JsonObject } from "./json-values.ts";

const ASK_MS_MAX = 3000;
/** A model may be reloaded with another window. */
const FRESH_MS = 5 * 60_000;
const MODELS_MAX = 1000;
const REPLY_BYTES_MAX = 8 * 1024 * 1024;
/** The names of the window in lists of models. */
const LIST_FIELDS = ["max_model_len", "context_length", "context_window", "max_context_length"];

/** The context windows of a server's models in tokens, cached for five minutes each. */
export class ContextWindows {
  readonly #server: ServerAddress;
  readonly #windows = new LRUCache<string, { readonly window: number | null }>({ max: MODELS_MAX, ttl: FRESH_MS });

  constructor(server: ServerAddress) {
    this.#server = server;
  }

  /** The window of a model, or null if the server does not report it. Never rejects. */
  async read(model: string, signal: AbortSignal): Promise<number | null> {
    const entry = this.#windows.get(model);
    if (entry !== undefined) return entry.window;
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(ASK_MS_MAX)]);
    const window =
      (await this.#fromList(model, deadline)) ??
      (await this.#fromLlamaCpp(model, deadline)) ??
      (await this.#fromOllama(model, deadline));
    if (!signal.aborted) this.#windows.set(model, { window });
    return window;
  }

  /** vLLM and many gateways report it in the list of models. */
  async #fromList(model: string, signal: AbortSignal): Promise<number | null> {
    const list = await this.#ask({ path: `${this.#server.apiPath}/models` }, signal);
    const entries = list === null ? [] : (list["data"] ?? list["models"]);
    const entry = isList(entries) ? entries.find((each) => isRecord(each) && each["id"] === model) : null;
    if (!isRecord(entry)) return null;
    return LIST_FIELDS.map((field) => positive(entry[field])).find((size) => size !== null) ?? null;
  }

  /** llama.cpp: the context size of one slot. */
  async #fromLlamaCpp(model: string, signal: AbortSignal): Promise<number | null> {
    const props = await this.#ask(
      { path: `${this.#server.rootPath}/props?model=${encodeURIComponent(model)}` },
      signal,
    );
    const settings = props?.["default_generation_settings"];
    return isRecord(settings) ? positive(settings["n_ctx"]) : null;
  }

  /** Ollama: the window of the loaded model, otherwise the setting in its model file, otherwise its training window. */
  async #fromOllama(model: string, signal: AbortSignal): Promise<number | null> {
    const details = await this.#ask({ path: `${this.#server.rootPath}/api/show`, body: { model } }, signal);
    if (details === null) return null;
    const state = await this.#ask({ path: `${this.#server.rootPath}/api/ps` }, signal);
    const running = isList(state?.["models"]) ? state["models"].filter(isRecord) : [];
    const own = running.find(
      (each) => each["model"] === model || each["name"] === model || each["name"] === `${model}:latest`,
    );
    return positive(own?.["context_length"]) ?? parameterOf(details) ?? trainedOf(details);
  }

  async #ask(
    question: { readonly path: string; readonly body?: object },
    signal: AbortSignal,
  ): Promise<JsonObject | null> {
    const reply = await askServer(this.#server, { ...question, replyBytesMax: REPLY_BYTES_MAX }, signal);
    return reply !== null && reply.status === 200 && isRecord(reply.body) ? reply.body : null;
  }
}

/** `parameters` are lines of the model file, such as `num_ctx 8192`. */
function parameterOf(details: JsonObject): number | null {
  const { parameters } = details;
  return typeof parameters === "string" ? positive(Number(/^num_ctx\s+(\d+)/m.exec(parameters)?.[1])) : null;
}

/** `model_info` prefixes it with the architecture, such as `llama.context_length`. */
function trainedOf(details: JsonObject): number | null {
  const { model_info: info } = details;
  if (!isRecord(info)) return null;
  const field = Object.keys(info).find((name) => name.endsWith(".context_length"));
  return field === undefined ? null : positive(info[field]);
}

function positive(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) && value > 0 ? value : null;
}

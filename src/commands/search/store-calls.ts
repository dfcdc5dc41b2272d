import { openAsBlob } from "node:fs";
import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { KnownServer } from "../runs-client.ts";

/** The server refused a request, or cannot be reached. The message is a sentence for the operator. */
export class StoreCallFailed extends Error {
  override readonly name = "StoreCallFailed";
  /** Null if the server cannot be reached. */
  readonly status: number | null;

  constructor(message: string, status: number | null, cause?: unknown) {
    super(message, { cause });
    this.status = status;
  }
}

/** A file of a vector store, as the server shows it. */
export interface StoreEntry {
  readonly fileId: string;
  readonly status: string;
  /** Why it could not be read; null unless it failed. */
  readonly failure: string | null;
  readonly attributes: Readonly<Record<string, unknown>>;
}

type Body = Readonly<Record<string, unknown>>;

const PAGE = 100;
const REPEATS_MAX = 6;
const FIRST_PAUSE_MS = 500;
/** The server is overloaded, or starts. */
const BUSY: ReadonlySet<number> = new Set([429, 503]);
const NOT_FOUND = 404;

/** The calls of one server that keep a vector store. All reject with `StoreCallFailed`, or with the signal's reason. */
export class StoreCalls {
  readonly #server: KnownServer;
  readonly #signal: AbortSignal;

  constructor(server: KnownServer, signal: AbortSignal) {
    this.#server = server;
    this.#signal = signal;
  }

  /** The id of the store with this id or name; null if there is none. */
  async findStore(wanted: string): Promise<string | null> {
    for await (const { id, name } of this.#pages("/v1/vector_stores", "desc"))
      if (id === wanted || name === wanted) return String(id);
    return null;
  }

  async createStore(name: string): Promise<string> {
    return String((await this.#send("POST", "/v1/vector_stores", { name }))["id"]);
  }

  async *listFiles(storeId: string): AsyncGenerator<StoreEntry, void> {
    for await (const entry of this.#pages(`/v1/vector_stores/${storeId}/files`, "asc")) yield entryOf(entry);
  }

  async findFile(storeId: string, fileId: string): Promise<StoreEntry> {
    return entryOf(await this.#send("GET", `/v1/vector_stores/${storeId}/files/${fileId}`));
  }

  /** Uploads a file; resolves to its id. */
  async upload(path: string): Promise<string> {
    const form = new FormData();
    form.append("purpose", "assistants");
    form.append("file", await openAsBlob(path), basename(path));
    return String((await this.#send("POST", "/v1/files", form))["id"]);
  }

  async addFile(storeId: string, fileId: string, attributes: Body): Promise<void> {
    await this.#send("POST", `/v1/vector_stores/${storeId}/files`, { file_id: fileId, attributes });
  }

  async changeAttributes(storeId: string, fileId: string, attributes: Body): Promise<void> {
    await this.#send("POST", `/v1/vector_stores/${storeId}/files/${fileId}`, { attributes });
  }

  /** Deletes an uploaded file, which leaves every store. */
  async deleteFile(fileId: string): Promise<void> {
    await this.#send("DELETE", `/v1/files/${fileId}`).catch((error: unknown) => {
      if (!(error instanceof StoreCallFailed && error.status === NOT_FOUND)) throw error;
    });
  }

  async *#pages(path: string, order: "asc" | "desc"): AsyncGenerator<Body, void> {
    for (let after: unknown = null; ; ) {
      const place = typeof after === "string" ? `&after=${after}` : "";
      const page = await this.#send("GET", `${path}?limit=${PAGE}&order=${order}${place}`);
      const entries: readonly unknown[] = Array.isArray(page["data"]) ? page["data"] : [];
      yield* entries.filter(isRecord);
      after = page["last_id"];
      if (page["has_more"] !== true) return;
    }
  }

  async #send(method: string, path: string, body?: Body | FormData): Promise<Body> {
    for (let repeats = 0; ; repeats++) {
      const response = await this.#fetch(method, path, body);
      const reply = jsonOrUndefined(await response.text());
      if (response.ok) return isRecord(reply) ? reply : {};
      if (!BUSY.has(response.status) || repeats === REPEATS_MAX)
        throw new StoreCallFailed(failureSentence(response.status, reply), response.status);
      const asked = Number(response.headers.get("retry-after") ?? Number.NaN) * 1000;
      await sleep(Number.isFinite(asked) ? asked : FIRST_PAUSE_MS * 2 ** repeats, null, { signal: this.#signal });
    }
  }

  async #fetch(method: string, path: string, body: Body | FormData | undefined): Promise<Response> {
    const { baseUrl, apiKey } = this.#server;
    const key: Record<string, string> = apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
    const isForm = body instanceof FormData;
    try {
      return await fetch(`${baseUrl}${path}`, {
        method,
        headers: isForm || body === undefined ? key : { ...key, "content-type": "application/json" },
        body: isForm ? body : body === undefined ? null : JSON.stringify(body),
        signal: this.#signal,
      });
    } catch (error) {
      this.#signal.throwIfAborted();
      throw new StoreCallFailed(`The server at ${baseUrl} cannot be reached.`, null, error);
    }
  }
}

function failureSentence(status: number, reply: unknown): string {
  const error = isRecord(reply) ? reply["error"] : null;
  const message = isRecord(error) ? error["message"] : null;
  return typeof message === "string" ? message : `The server failed with status ${status}.`;
}

function entryOf(entry: Body): StoreEntry {
  const { id, status, attributes, last_error: error } = entry;
  const message = isRecord(error) ? error["message"] : null;
  return {
    fileId: String(id),
    status: String(status),
    failure: typeof message === "string" ? message : null,
    attributes: isRecord(attributes) ? attributes : {},
  };
}

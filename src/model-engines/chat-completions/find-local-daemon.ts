import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import { readBodyStart } from "@antiphon/base/limits/read-body-start.ts";
import { type Dispatcher, request } from "undici";
import { textOrNull } from "../model-server/json-values.ts";

const OLLAMA_ORIGIN = "http://127.0.0.1:11434";
const WAIT_MS = 300;
const BODY_BYTES_MAX = 4096;

/** A model server on this machine. */
export interface LocalDaemon {
  readonly name: string;
  readonly version: string;
  /** The base URL of its chat completions. */
  readonly baseUrl: string;
}

/** Looks for Ollama on its default port. Null if it does not answer within 300 ms; never throws. */
export async function findLocalDaemon(
  origin: string = OLLAMA_ORIGIN,
  dispatcher?: Dispatcher,
): Promise<LocalDaemon | null> {
  const options = { signal: AbortSignal.timeout(WAIT_MS), ...(dispatcher === undefined ? {} : { dispatcher }) };
  try {
    const reply = await request(`${origin}/api/version`, options);
    const answer = jsonOrUndefined(await readBodyStart(reply.body, BODY_BYTES_MAX));
    const version = isRecord(answer) ? textOrNull(answer["version"]) : null;
    return reply.statusCode === 200 && version !== null ? { name: "Ollama", version, baseUrl: `${origin}/v1` } : null;
  } catch {
    return null; // Nothing listens there, or it is not Ollama.
  }
}

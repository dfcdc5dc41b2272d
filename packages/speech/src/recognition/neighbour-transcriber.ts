import { jsonOrText } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import { Agent, FormData, fetch } from "undici";
import { type FileTranscriber, type SoundFile, SpeechError, type SpeechErrorReason } from "./speech-engine.ts";

export interface Neighbour {
  /** The address of the local speech server without a trailing slash; null while it is unknown. */
  readonly url: () => string | null;
  /** Limit of one whole call, in milliseconds. */
  readonly timeoutMs: number;
}

const CONNECTIONS_MAX = 32;

/** What the error codes of the local speech server mean. */
const REASONS: ReadonlyMap<unknown, SpeechErrorReason> = new Map([
  ["model_loading", "loading"],
  ["model_failed", "failed"],
  ["busy", "busy"],
  ["transcription_failed", "crashed"],
]);
const REFUSALS: ReadonlySet<number> = new Set([400, 413, 415]);

/** Transcribes with the speech engine of another process of this program, by its local speech server. */
export function createNeighbourTranscriber({ url, timeoutMs }: Neighbour): FileTranscriber {
  const dispatcher = new Agent({ connections: CONNECTIONS_MAX, headersTimeout: timeoutMs, bodyTimeout: timeoutMs });
  let warning: string | null = null;
  return {
    warning: () => warning,
    async transcribeFile(file, request) {
      const base = url();
      if (base === null) throw unavailable(null);
      const signal = AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)]);
      const body = recordingForm(file, request.language);
      const reply = await fetch(`${base}/transcribe`, { method: "POST", body, signal, dispatcher })
        .then(async (answer) => ({ status: answer.status, body: jsonOrText(await answer.text()) }))
        .catch((error: unknown) => {
          request.signal.throwIfAborted();
          throw unavailable(error);
        });
      if (reply.status !== 200) throw engineFault(reply.status, reply.body);
      warning = textMember(reply.body, "warning");
      return textMember(reply.body, "text") ?? "";
    },
  };
}

function recordingForm({ bytes, mimeType }: SoundFile, language: string | null): FormData {
  const form = new FormData();
  form.set("audio", new Blob([Uint8Array.from(bytes)], { type: mimeType }), "recording");
  if (language !== null) form.set("language", language);
  return form;
}

function engineFault(status: number, body: unknown): SpeechError {
  const error = isRecord(body) && isRecord(body["error"]) ? body["error"] : {};
  const reason = REASONS.get(error["code"]) ?? (REFUSALS.has(status) ? "refused" : "unavailable");
  const message = textMember(error, "message")?.replace(/\.$/, "");
  return new SpeechError(reason, message ?? `The speech engine answered with status ${status}`);
}

function textMember(body: unknown, name: string): string | null {
  const value = isRecord(body) ? body[name] : null;
  return typeof value === "string" ? value : null;
}

function unavailable(cause: unknown): SpeechError {
  return new SpeechError("unavailable", "The process with the speech engine cannot be reached", cause ?? undefined);
}

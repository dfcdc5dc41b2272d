import { jsonOrText } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import { Agent, FormData, fetch, type Response } from "undici";
import { type FileTranscriber, type SoundFile, SpeechError } from "./speech-engine.ts";

/** Address, credentials and model of the transcription server. */
export interface TranscriptionServerOptions {
  /** Base of its API, such as `http://127.0.0.1:8000/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly model: string;
  /** Limit of one whole call, in milliseconds. */
  readonly timeoutMs: number;
}

const REPLY_BYTES_MAX = 8 * 1024 * 1024;
const CONNECTIONS_MAX = 32;
const MESSAGE_CHARACTERS_MAX = 300;
/** Statuses that mean a bad recording. Every other error status means a fault of the server or of its configuration. */
const REFUSALS: ReadonlySet<number> = new Set([400, 413, 415, 422]);

/** Servers recognize the type of a recording by the extension of its file name. */
const FILENAMES: Readonly<Record<string, string>> = {
  "audio/wav": "recording.wav",
  "audio/mpeg": "recording.mp3",
  "audio/ogg": "recording.ogg",
};

/** Transcribes through `POST /audio/transcriptions` of an OpenAI-compatible server. */
export function createTranscriptionServer(options: TranscriptionServerOptions): FileTranscriber {
  const url = new URL(options.baseUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/audio/transcriptions`;
  const headers = options.apiKey === null ? {} : { authorization: `Bearer ${options.apiKey}` };
  const dispatcher = new Agent({
    connections: CONNECTIONS_MAX,
    headersTimeout: options.timeoutMs,
    bodyTimeout: options.timeoutMs,
  });
  return {
    warning: () => null,
    async transcribeFile(file, request) {
      const signal = AbortSignal.any([request.signal, AbortSignal.timeout(options.timeoutMs)]);
      try {
        const body = transcriptionForm(file, request.language, options.model);
        const reply = await fetch(url, { method: "POST", headers, body, signal, dispatcher, redirect: "error" });
        return readTranscript(reply, await readReply(reply), options.apiKey);
      } catch (error) {
        request.signal.throwIfAborted();
        if (error instanceof SpeechError) throw error;
        const problem = signal.aborted ? "did not answer in time" : "could not be reached";
        throw new SpeechError("unavailable", `The transcription server ${problem}`, error);
      }
    },
  };
}

function transcriptionForm({ bytes, mimeType }: SoundFile, language: string | null, model: string): FormData {
  const form = new FormData();
  form.set("file", new Blob([Uint8Array.from(bytes)], { type: mimeType }), FILENAMES[mimeType] ?? "recording");
  form.set("model", model);
  form.set("response_format", "json");
  const [primary] = language?.split("-") ?? []; // These servers accept languages without a region.
  if (primary !== undefined) form.set("language", primary.toLowerCase());
  return form;
}

async function readReply(reply: Response): Promise<unknown> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of reply.body ?? []) {
    bytes += piece.length;
    if (bytes > REPLY_BYTES_MAX) throw new SpeechError("unavailable", "The transcription server sent too much");
    pieces.push(piece);
  }
  return jsonOrText(Buffer.concat(pieces).toString("utf8")); // Some servers send errors as plain text.
}

function readTranscript(reply: Response, body: unknown, apiKey: string | null): string {
  if (reply.ok) {
    if (isRecord(body) && typeof body["text"] === "string") return body["text"].trim();
    throw new SpeechError("unavailable", "The transcription server sent an answer without text");
  }
  if (!REFUSALS.has(reply.status))
    throw new SpeechError("unavailable", `The transcription server answered with status ${reply.status}`);
  const detail = redactKey(refusalMessage(body), apiKey).slice(0, MESSAGE_CHARACTERS_MAX);
  throw new SpeechError(
    "refused",
    `The transcription server refused the recording${detail === "" ? "" : `: ${detail}`}`,
  );
}

function refusalMessage(body: unknown): string {
  const error = isRecord(body) ? (body["error"] ?? body["detail"] ?? body["message"]) : "";
  const message = isRecord(error) ? error["message"] : error;
  return typeof message === "string" ? message.trim().replace(/\.$/, "") : "";
}

function redactKey(message: string, apiKey: string | null): string {
  return apiKey === null ? message : message.replaceAll(apiKey, "***");
}

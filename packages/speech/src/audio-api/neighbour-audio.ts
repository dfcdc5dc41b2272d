import { ApiError } from "@antiphon/base/api-error.ts";
import { dataFrame, EventFrames, FRAME_END, type FrameForm } from "@antiphon/base/event-frames.ts";
import { jsonOrText, readOwnJson } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { AudioHandlers } from "@antiphon/contracts/audio/operations.ts";
import type { AudioModelList, Transcription, TranscriptStreamEvent } from "@antiphon/contracts/audio/types.ts";
import type { Recording } from "../audio-formats/recording.ts";
import { recordingTooLarge, serviceFailed } from "./errors.ts";
import type { AudioContext, NeighbourUrl } from "./ports.ts";
import { AUDIO_SECONDS } from "./transcript-reply.ts";

type HearingOperation = "createTranscription" | "createTranslation" | "listAudioModels";

const RETRY_SECONDS = 5;
const WARNING = "x-antiphon-warning";

/**
 * Passes recordings of at most `bytesMax` bytes on to the same routes of the process that has the speech engine, at
 * `url`.
 */
export function neighbourAudio(
  url: NeighbourUrl,
  bytesMax: number,
): Pick<AudioHandlers<AudioContext>, HearingOperation> {
  return {
    createTranscription: async ({ body: { file, ...members } }, { signal, onHeard = ignoreLength }) => {
      const reply = await neighbourReply(url, "/transcriptions", signal, await encodedForm(file, members, bytesMax));
      const headers = shownHeaders(reply, onHeard);
      const type = reply.headers.get("content-type") ?? "";
      if (type.startsWith("text/event-stream")) return { status: 200, headers, events: eventFrames(reply, onHeard) };
      if (type.startsWith("text/plain")) return { status: 200, headers, text: await reply.text() };
      return { status: 200, headers, body: readOwnJson<Transcription>(await reply.text()) };
    },
    createTranslation: async ({ body: { file, ...members } }, { signal, onHeard = ignoreLength }) => {
      const reply = await neighbourReply(url, "/translations", signal, await encodedForm(file, members, bytesMax));
      const headers = shownHeaders(reply, onHeard);
      const isText = reply.headers.get("content-type")?.startsWith("text/plain") === true;
      if (isText) return { status: 200, headers, text: await reply.text() };
      return { status: 200, headers, body: readOwnJson<Transcription>(await reply.text()) };
    },
    listAudioModels: async (_request, { signal }) => {
      const reply = await neighbourReply(url, "/models", signal);
      return { status: 200, body: readOwnJson<AudioModelList>(await reply.text()) };
    },
  };
}

interface SentForm {
  readonly method: "POST";
  readonly body: Uint8Array<ArrayBuffer>;
  readonly headers: Readonly<Record<string, string>>;
}

/** Throws the `ApiError` that the other process answers with, or a 503 if it cannot be reached. */
async function neighbourReply(
  url: NeighbourUrl,
  path: string,
  signal: AbortSignal,
  form: SentForm | null = null,
): Promise<Response> {
  const base = url();
  if (base === null) throw neighbourAway(undefined);
  const reply = await fetch(`${base}/v1/audio${path}`, { ...form, signal, redirect: "error" }).catch(
    (error: unknown) => {
      signal.throwIfAborted();
      throw neighbourAway(error);
    },
  );
  if (!reply.ok) throw neighbourFault(reply, jsonOrText(await reply.text()));
  return reply;
}

function neighbourAway(cause: unknown): ApiError {
  return serviceFailed("The process with the speech engine cannot be reached.", RETRY_SECONDS, cause);
}

function neighbourFault({ status, headers }: Response, body: unknown): ApiError {
  const error = isRecord(body) && isRecord(body["error"]) ? body["error"] : {};
  const text = (name: string): string | null => (typeof error[name] === "string" ? error[name] : null);
  const retry = headers.get("retry-after");
  return new ApiError({
    status,
    type: text("type") ?? "server_error",
    code: text("code"),
    param: text("param"),
    message: text("message") ?? `The speech engine answered with status ${status}.`,
    headers: retry === null ? {} : { "Retry-After": retry },
  });
}

/**
 * A form as bytes. A `FormData` is sent as a stream, which fails beside its request if the other side answers before it
 * has read all of it.
 */
async function encodedForm(
  file: Recording,
  members: Readonly<Record<string, unknown>>,
  bytesMax: number,
): Promise<SentForm> {
  if (file.size > bytesMax) throw recordingTooLarge(bytesMax);
  const form = new FormData();
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for await (const piece of file.read()) pieces.push(new Uint8Array(piece));
  form.append("file", new Blob(pieces), "recording");
  for (const [name, value] of Object.entries(members))
    for (const one of Array.isArray(value) ? value : [value]) form.append(name, String(one));
  const encoding = new Response(form);
  const body = new Uint8Array(await encoding.arrayBuffer());
  return { method: "POST", body, headers: { "content-type": encoding.headers.get("content-type") ?? "" } };
}

type OnHeard = (ms: number) => void;

function ignoreLength(): void {}

/** The headers that are passed on. A stream has no length in its headers, but in its last event. */
function shownHeaders({ headers }: Response, onHeard: OnHeard): Readonly<Record<string, string>> {
  const warning = headers.get(WARNING);
  const length = headers.get(AUDIO_SECONDS);
  if (length !== null) onHeard(Number(length) * MS_PER_SECOND);
  return {
    ...(warning === null ? {} : { [WARNING]: warning }),
    ...(length === null ? {} : { [AUDIO_SECONDS]: length }),
  };
}

/** How long a recording is, in the last event of its stream. */
const STREAMED_LENGTH = /"usage":\{"type":"duration","seconds":([\d.]+)\}/;
const MS_PER_SECOND = 1000;

const FORM: FrameForm = { end: null, errorFrame: (body) => dataFrame(JSON.stringify(body)) };

function eventFrames(reply: Response, onHeard: OnHeard): EventFrames<TranscriptStreamEvent> {
  return new EventFrames(wholeFrames(reply, onHeard), FORM);
}

/** Texts of whole frames. Comments that keep the connection open are left out. */
async function* wholeFrames({ body }: Response, onHeard: OnHeard): AsyncGenerator<string> {
  if (body === null) return;
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of body) {
    rest += decoder.decode(bytes, { stream: true });
    const end = rest.lastIndexOf(FRAME_END);
    if (end === -1) continue;
    const frames = rest
      .slice(0, end)
      .split(FRAME_END)
      .filter((frame) => frame.startsWith("data: "));
    rest = rest.slice(end + FRAME_END.length);
    const seconds = frames.map((frame) => STREAMED_LENGTH.exec(frame)?.[1]).find((one) => one !== undefined);
    if (seconds !== undefined) onHeard(Number(seconds) * MS_PER_SECOND);
    if (frames.length > 0) yield frames.map((frame) => frame + FRAME_END).join("");
  }
}

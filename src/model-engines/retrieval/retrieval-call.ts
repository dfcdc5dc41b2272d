import { beginExchange, type RecordedCall } from "@antiphon/base/exchanges/exchange-recording.ts";
import { joinChunks, readJsonInSlices } from "@antiphon/base/json/read-json-in-slices.ts";
import { type TraceContext, traceHeaders } from "@antiphon/base/trace-context.ts";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import type { Dispatcher } from "undici";
import type { ServerAddress } from "../model-server/ask-server.ts";
import { requestBody } from "../model-server/connections/request-body.ts";
import type { ServerTimeouts } from "../model-server/engine-options.ts";
import { brokenAnswer, tooSlow } from "../model-server/errors/model-errors.ts";
import { explainTransportError } from "../model-server/errors/transport-error.ts";
import { explainRefusal } from "../model-server/errors/upstream-error.ts";

const REPLY_BYTES_MAX = 64 * 1024 * 1024;
const REFUSAL_BYTES_MAX = 64 * 1024;
/** The server has no such endpoint, or does not know the model. */
const MISSING: ReadonlySet<number> = new Set([404, 405, 501]);

export interface RetrievalCall {
  /** The whole path, such as `/v1/embeddings`. */
  readonly path: string;
  readonly body: object;
  readonly model: string;
  /** What is asked for, as errors name it. */
  readonly api: "embeddings" | "ranks";
  readonly trace: TraceContext | null;
}

export type RetrievalReply =
  | { readonly type: "answer"; readonly answer: unknown }
  /** The server refused with this status. `isMissing`: it may have no such endpoint. */
  | { readonly type: "refusal"; readonly status: number; readonly isMissing: boolean; readonly error: ModelError };

/** Makes one call. Rejects with `ModelError` if there is no reply, or with the signal's reason if it aborts. */
export async function askRetrieval(
  server: ServerAddress,
  call: RetrievalCall,
  { idleMs, totalMs }: ServerTimeouts,
  signal: AbortSignal,
): Promise<RetrievalReply> {
  const { parts, headers, body } = await requestBody(call.body);
  const sent = {
    origin: server.origin,
    path: `${call.path}${server.search}`,
    method: "POST",
    headers: { ...server.headers, accept: "application/json", ...headers, ...traceHeaders(call.trace) },
    body,
    headersTimeout: idleMs,
    bodyTimeout: idleMs,
  } as const;
  const recording = beginExchange(() => ({
    kind: call.api,
    method: "POST",
    url: `${sent.origin}${sent.path}`,
    headers: Object.entries(sent.headers),
    body: parts,
  }));
  const deadline = AbortSignal.timeout(totalMs);
  try {
    const reply = await server.dispatcher.request({ ...sent, signal: AbortSignal.any([signal, deadline]) });
    recording?.head(reply.statusCode, reply.headers);
    const read = await readRetrieval(server, call, reply, recording);
    recording?.end(null);
    return read;
  } catch (error) {
    recording?.end(error instanceof Error ? error.message : "");
    signal.throwIfAborted();
    if (error instanceof ModelError) throw error;
    throw deadline.aborted ? tooSlow("did not answer in time", error) : explainTransportError(error, idleMs);
  }
}

async function readRetrieval(
  server: ServerAddress,
  { model, api }: RetrievalCall,
  { statusCode: status, headers, body }: Dispatcher.ResponseData,
  recording: RecordedCall | null,
): Promise<RetrievalReply> {
  if (status === 200) return { type: "answer", answer: await readAnswer(body, recording) };
  const text = await readRefusal(body, recording);
  const context = { model, ...server.secrets, api };
  const error = explainRefusal({ status, headers, body: text }, context, Date.now());
  return { type: "refusal", status, isMissing: MISSING.has(status) && error.code !== "model_not_found", error };
}

async function readAnswer(body: AsyncIterable<Buffer>, recording: RecordedCall | null): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > REPLY_BYTES_MAX) throw brokenAnswer("sent an answer that is too large");
    recording?.data(chunk);
    chunks.push(chunk);
  }
  try {
    return await readJsonInSlices([joinChunks(chunks)]);
  } catch {
    throw brokenAnswer("sent no JSON that could be read");
  }
}

async function readRefusal(body: AsyncIterable<Buffer>, recording: RecordedCall | null): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    recording?.data(chunk);
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= REFUSAL_BYTES_MAX) break;
  }
  return joinChunks(chunks).toString("utf8");
}

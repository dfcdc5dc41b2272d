import { type ExchangeRecorder, RecordedReply } from "@antiphon/base/exchanges/exchange-recording.ts";
import { traceHeaders } from "@antiphon/base/trace-context.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import type { Dispatcher } from "undici";
import type { ServerAddress } from "../ask-server.ts";
import type { requestBody } from "../connections/request-body.ts";
import type { UpstreamTurn } from "./upstream-turn.ts";

/** The call of a turn, beside its body. */
export interface TurnCall {
  readonly server: ServerAddress;
  /** Below the path of the API, such as `/responses`. */
  readonly path: string;
  /** Maximum time without a byte. */
  readonly idleMs: number;
  readonly trace: ModelRequest["trace"];
  readonly recorder: ExchangeRecorder | null;
}

/** Sends a turn to a model server. Its reply goes to `turn`, and to the recorder if there is one. */
export function sendTurn(
  turn: UpstreamTurn,
  httpBody: Awaited<ReturnType<typeof requestBody>>,
  { server, path, idleMs, trace, recorder }: TurnCall,
): void {
  const call = {
    origin: server.origin,
    path: `${server.apiPath}${path}${server.search}`,
    method: "POST",
    headers: { ...server.headers, accept: "text/event-stream", ...httpBody.headers, ...traceHeaders(trace) },
    body: httpBody.body,
    headersTimeout: idleMs,
    bodyTimeout: idleMs,
  };
  server.dispatcher.dispatch(call, recordedTurn(turn, recorder, call, httpBody.parts));
}

/** The turn itself, or a wrapper that also records its reply. */
function recordedTurn(
  turn: UpstreamTurn,
  recorder: ExchangeRecorder | null,
  call: { readonly origin: string; readonly path: string; readonly headers: Readonly<Record<string, string>> },
  body: readonly Uint8Array[],
): Dispatcher.DispatchHandler {
  if (recorder === null) return turn;
  const url = `${call.origin}${call.path}`;
  const recording = recorder.begin({ kind: "model", method: "POST", url, headers: Object.entries(call.headers), body });
  return recording === null ? turn : new RecordedReply(turn, recording);
}

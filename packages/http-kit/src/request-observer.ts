import type { TraceContext } from "@antiphon/base/trace-context.ts";
import type { RequestHead } from "./request-head.ts";

/** The outcome of a request. */
export interface RequestOutcome {
  /** Null if the request matched no operation. */
  readonly operationId: string | null;
  /** The path template of the operation, such as `/v1/responses/:response_id`; null if there is none. */
  readonly route: string | null;
  /** Null if the client left before a status was sent. */
  readonly status: number | null;
  /** Whether the whole reply was sent. */
  readonly complete: boolean;
  readonly durationMs: number;
}

/** An observer's addition to the log line of a request. */
export interface LineAddition {
  /** Whether the line is a warning. */
  readonly isWarning: boolean;
  readonly fields: object;
}

/** Observes one request. Its methods must not throw. */
export interface RequestWatch {
  /** The trace context for work that is done for the request. */
  readonly trace: TraceContext | null;
  /** Called when the reply is a stream. */
  streams(): void;
  end(outcome: RequestOutcome): LineAddition;
}

/** Called for every request and WebSocket, for metrics and traces. */
export interface RequestObserver {
  begin(caller: RequestHead, requestId: string): RequestWatch;
  /** Called when a WebSocket opens; call the returned function when it has closed. */
  beginSocket(): () => void;
}

import type { TraceContext } from "../base/trace-context.ts";
import type { RequestHead } from "./request-head.ts";

/** What became of a request. */
export interface RequestOutcome {
  /** Null: none of the contract's. */
  readonly operationId: string | null;
  /** The path as the contract writes it, such as `/v1/responses/:response_id`; null like the operation. */
  readonly route: string | null;
  /** Null: the client left before there was one. */
  readonly status: number | null;
  /** Whether the reply went out whole. */
  readonly complete: boolean;
  readonly durationMs: number;
}

/** Follows one request, or one WebSocket. Nothing here may throw. */
export interface RequestWatch {
  /** The trace that what is done for the request belongs to. */
  readonly trace: TraceContext | null;
  /** Its reply is a stream. */
  streams(): void;
  end(outcome: RequestOutcome): void;
}

/** Told of every request, for metrics and traces. */
export interface RequestObserver {
  begin(caller: RequestHead): RequestWatch;
  /** A WebSocket opened; the function is told when it has closed. */
  beginSocket(): () => void;
}

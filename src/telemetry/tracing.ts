import type { Response } from "../../generated/responses-api/types.ts";
import type { TraceContext } from "../base/trace-context.ts";
import type { ModelEngine, WatchedRun } from "../runs/ports.ts";
import type { Caller } from "../transport/caller.ts";
import type { RequestOutcome } from "../transport/request-observer.ts";
import type { ModelServer } from "./model-server.ts";

/** Spans as this server makes them. No tracing system is loaded before one is asked for. */
export interface Tracing {
  beginRequest(caller: Caller): RequestSpan;
  beginRun(run: WatchedRun): RunSpan;
  /** The engine with a span for each turn it is asked for. */
  watchEngine(engine: ModelEngine, server: ModelServer): ModelEngine;
  /** Sends what waits, for a moment at most. */
  close(): Promise<void>;
}

/** The span of a request that is being served. */
export interface RequestSpan {
  readonly trace: TraceContext;
  end(outcome: RequestOutcome): void;
}

/** The span of a response that is being made. */
export interface RunSpan {
  readonly trace: TraceContext;
  began(): void;
  /** `reason` is one of a closed list. */
  failed(reason: string): void;
  /** Null: it did not end here. */
  end(response: Response | null): void;
}

import type { TraceContext } from "@antiphon/base/trace-context.ts";
import type { Response } from "@antiphon/contracts/responses-api/types.ts";
import type { ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import type { ToolCallEnd, WatchedToolCall } from "@antiphon/domain/tool-watch.ts";
import type { RequestHead } from "@antiphon/http-kit/request-head.ts";
import type { RequestOutcome } from "@antiphon/http-kit/request-observer.ts";
import type { WatchedRun } from "../runs/ports/run-watch.ts";
import type { ModelServer } from "./model-server.ts";

/** The spans of this server. No tracing library is loaded unless a collector is configured. */
export interface Tracing {
  beginRequest(caller: RequestHead): RequestSpan;
  beginRun(run: WatchedRun): RunSpan;
  beginTool(call: WatchedToolCall): ToolSpan;
  /** Wraps the engine so that each turn has a span. */
  watchEngine(engine: ModelEngine, server: ModelServer): ModelEngine;
  /** Sends waiting spans; takes at most a few seconds. */
  close(): Promise<void>;
}

/** The span of one request. */
export interface RequestSpan {
  readonly trace: TraceContext;
  end(outcome: RequestOutcome): void;
}

/** The span of one call of a tool. */
export interface ToolSpan {
  end(outcome: ToolCallEnd): void;
}

/** The span of one run. */
export interface RunSpan {
  readonly trace: TraceContext;
  began(): void;
  /** `reason`: from a closed list. */
  noteFailure(reason: string): void;
  /** Null if the run did not end in this process. */
  end(response: Response | null): void;
}

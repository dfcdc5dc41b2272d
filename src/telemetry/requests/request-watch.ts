import type { TraceContext } from "@antiphon/base/trace-context.ts";
import { readTraceContext } from "@antiphon/base/trace-context.ts";
import type { RequestHead } from "@antiphon/http-kit/request-head.ts";
import type {
  LineAddition,
  RequestObserver,
  RequestOutcome,
  RequestWatch,
} from "@antiphon/http-kit/request-observer.ts";
import type { Meters } from "../meters.ts";
import { METRICS } from "../metric-table.ts";
import type { RequestSpan, Tracing } from "../tracing.ts";
import { RequestFacts } from "./request-facts.ts";

/** Turns the outcomes of requests into metrics and spans. `facts`: facts from runs about their requests. */
export function observeRequests(
  meters: Meters,
  tracing: Tracing | null,
  facts: RequestFacts = new RequestFacts(),
): RequestObserver {
  const metrics = new RequestMetrics(meters);
  return {
    begin: (caller, requestId) => {
      facts.begin(requestId);
      const span = tracing?.beginRequest(caller) ?? null;
      return new RequestRecord(caller, { metrics, span, endLine: () => facts.end(requestId) });
    },
    beginSocket: () => metrics.beginSocket(),
  };
}

class RequestMetrics {
  inFlight = 0;
  streams = 0;
  readonly #requests;
  readonly #duration;
  #webSockets = 0;
  #webSocketsOpened = 0;

  constructor(meters: Meters) {
    this.#requests = meters.counter(METRICS.httpRequests);
    this.#duration = meters.histogram(METRICS.httpDuration);
    meters.watch(METRICS.httpInFlight, () => this.inFlight);
    meters.watch(METRICS.streamsOpen, () => this.streams);
    meters.watch(METRICS.webSocketsOpen, () => this.#webSockets);
    meters.watch(METRICS.webSocketsOpened, () => this.#webSocketsOpened);
  }

  end({ operationId, status, durationMs }: RequestOutcome): void {
    const operation = operationId ?? "none";
    this.#requests.add(1, { operation, status: status === null ? "none" : String(status) });
    this.#duration.record(durationMs / 1000, { operation });
  }

  beginSocket(): () => void {
    this.#webSockets += 1;
    this.#webSocketsOpened += 1;
    return () => {
      this.#webSockets -= 1;
    };
  }
}

interface RecordParts {
  readonly metrics: RequestMetrics;
  readonly span: RequestSpan | null;
  readonly endLine: () => LineAddition;
}

class RequestRecord implements RequestWatch {
  readonly trace: TraceContext | null;
  readonly #metrics: RequestMetrics;
  readonly #span: RequestSpan | null;
  readonly #endLine: () => LineAddition;
  #isStream = false;

  constructor(caller: RequestHead, { metrics, span, endLine }: RecordParts) {
    this.#metrics = metrics;
    this.#span = span;
    this.#endLine = endLine;
    this.trace = span === null ? readTraceContext(caller.headers) : span.trace;
    metrics.inFlight += 1;
  }

  streams(): void {
    if (!this.#isStream) this.#metrics.streams += 1;
    this.#isStream = true;
  }

  end(outcome: RequestOutcome): LineAddition {
    this.#metrics.inFlight -= 1;
    if (this.#isStream) this.#metrics.streams -= 1;
    this.#metrics.end(outcome);
    this.#span?.end(outcome);
    return this.#endLine();
  }
}

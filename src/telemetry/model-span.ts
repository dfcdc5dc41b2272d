import type { ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import type { ModelEvent, ModelUsage } from "@antiphon/domain/models/model-events.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { type Attributes, type Span, SpanKind, SpanStatusCode, type Tracer } from "@opentelemetry/api";
import { faultReason } from "./fault-reason.ts";
import type { ModelServer } from "./model-server.ts";
import { contextOf, traceOf } from "./span-context.ts";

type Batches = AsyncIterable<readonly ModelEvent[]>;

/**
 * Wraps the engine so that each turn has a span, by OpenTelemetry's conventions for generative AI. Spans have no
 * content.
 */
export function watchEngine(tracer: Tracer, engine: ModelEngine, server: ModelServer): ModelEngine {
  return {
    ...engine,
    sample: async (request, signal, beginning, onAnsweredBy) => {
      const startedAt = performance.now();
      const kind = server.address === null ? SpanKind.INTERNAL : SpanKind.CLIENT;
      const attributes = { ...serverAttributes(server), ...requestAttributes(request) };
      const span = tracer.startSpan(`chat ${request.model}`, { kind, attributes }, contextOf(request.trace));
      try {
        const turn = await engine.sample({ ...request, trace: traceOf(span) }, signal, beginning, onAnsweredBy);
        return span.isRecording() ? new WatchedTurn(turn, span, startedAt) : turn;
      } catch (fault) {
        fail(span, fault);
        span.end();
        throw fault;
      }
    },
  };
}

function serverAttributes({ provider, address }: ModelServer): Attributes {
  const at = address === null ? {} : { "server.address": address.host, "server.port": address.port };
  return { "gen_ai.operation.name": "chat", "gen_ai.provider.name": provider, ...at };
}

function requestAttributes(request: ModelRequest): Attributes {
  return {
    "gen_ai.request.model": request.model,
    "gen_ai.request.stream": true,
    ...attribute("gen_ai.request.max_tokens", request.maxOutputTokens),
    ...attribute("gen_ai.request.temperature", request.temperature),
    ...attribute("gen_ai.request.top_p", request.topP),
    ...attribute("gen_ai.request.presence_penalty", request.presencePenalty),
    ...attribute("gen_ai.request.frequency_penalty", request.frequencyPenalty),
    ...attribute("gen_ai.request.reasoning.level", request.reasoning.effort),
    ...attribute(
      "gen_ai.output.type",
      request.text.format == null || request.text.format.type === "text" ? null : "json",
    ),
  };
}

function attribute(name: string, value: string | number | null): Attributes {
  return value === null ? {} : { [name]: value };
}

/** Ends the span when the turn ends or its reader stops. */
class WatchedTurn implements Batches {
  readonly #turn: Batches;
  readonly #span: Span;
  readonly #startedAt: number;
  #isSilent = true;

  constructor(turn: Batches, span: Span, startedAt: number) {
    this.#turn = turn;
    this.#span = span;
    this.#startedAt = startedAt;
  }

  [Symbol.asyncIterator](): AsyncIterator<readonly ModelEvent[]> {
    const source = this.#turn[Symbol.asyncIterator]();
    return {
      next: async () => {
        try {
          return this.#observe(await source.next());
        } catch (fault) {
          fail(this.#span, fault);
          this.#span.end();
          throw fault;
        }
      },
      return: async () => {
        this.#span.end();
        return (await source.return?.()) ?? { done: true, value: undefined };
      },
    };
  }

  #observe(step: IteratorResult<readonly ModelEvent[]>): IteratorResult<readonly ModelEvent[]> {
    if (step.done === true) {
      this.#span.end();
      return step;
    }
    if (this.#isSilent && step.value.length > 0) this.#noteFirst();
    for (const event of step.value) this.#note(event);
    return step;
  }

  #noteFirst(): void {
    this.#isSilent = false;
    this.#span.setAttribute("gen_ai.response.time_to_first_chunk", (performance.now() - this.#startedAt) / 1000);
    this.#span.addEvent("first_chunk");
  }

  /** Leaves out values that the model server did not count. */
  #noteUsage(usage: ModelUsage): void {
    if (usage.isEstimate !== true) this.#span.setAttributes(usageAttributes(usage));
  }

  #note(event: ModelEvent): void {
    if (event.type === "model_resolved") {
      this.#span.setAttribute("gen_ai.response.model", event.model);
      if (event.answerId !== undefined) this.#span.setAttribute("gen_ai.response.id", event.answerId);
    } else if (event.type === "usage") this.#noteUsage(event.usage);
    else if (event.type === "finished") this.#span.setAttribute("gen_ai.response.finish_reasons", [event.reason]);
  }
}

function usageAttributes(usage: ModelUsage): Attributes {
  return {
    "gen_ai.usage.input_tokens": usage.inputTokens,
    "gen_ai.usage.output_tokens": usage.outputTokens,
    "gen_ai.usage.cache_read.input_tokens": usage.cachedTokens,
    "gen_ai.usage.cache_write.input_tokens": usage.cacheWriteTokens,
    "gen_ai.usage.reasoning.output_tokens": usage.reasoningTokens,
  };
}

function fail(span: Span, fault: unknown): void {
  span.setAttribute("error.type", faultReason(fault)).setStatus({ code: SpanStatusCode.ERROR });
}

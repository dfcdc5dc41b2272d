import { exchangeRecorder } from "@antiphon/base/exchanges/exchange-recording.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import type { ServerAddress } from "../model-server/ask-server.ts";
import { requestBody } from "../model-server/connections/request-body.ts";
import type { ErrorContext } from "../model-server/errors/upstream-error.ts";
import { sendTurn } from "../model-server/reply/send-turn.ts";
import { UpstreamTurn } from "../model-server/reply/upstream-turn.ts";
import { AnswerReader } from "./reply/answer-reader.ts";
import { ResponsesStream } from "./reply/responses-stream.ts";
import { type MappedResponsesRequest, mapResponsesRequest, type RequestForm } from "./request/map-responses-request.ts";
import { gapIn, type ServerGap, type ServerGaps } from "./server-gaps.ts";
import type { ResponsesTokenCounter } from "./tokens/responses-token-counter.ts";

/** The API in words, for errors about a wrong base URL. */
const API = "Responses API";
const PATH = "/responses";
const NO_LONGER_READABLE = "the model server no longer reads reasoning that it encrypted; it was left out";
/** How many kinds of skipped events are told. */
const SKIPPED_TYPES_MAX = 50;

type Batches = AsyncIterable<readonly ModelEvent[]>;

export interface ResponsesAskerOptions {
  readonly server: ServerAddress;
  /** See `serverKey`. */
  readonly key: string;
  readonly isReference: boolean;
  readonly gaps: ServerGaps;
  /** Maximum time without a byte. */
  readonly idleMs: number;
  /** Maximum time of the whole turn. */
  readonly totalMs: number;
  readonly tokens: Pick<ResponsesTokenCounter, "learner">;
  /** Called with a sentence if the server broke the protocol in a way that was corrected. */
  readonly onWarning: (warning: string, model: string) => void;
}

/** Sends turns to a server of the Responses API. */
export class ResponsesAsker {
  readonly #options: ResponsesAskerOptions;
  readonly #skippedTypes = new Set<string>();

  constructor(options: ResponsesAskerOptions) {
    this.#options = options;
  }

  /** See `ModelEngine.sample`. Sends the turn again, without what the server refuses, at most once for each gap. */
  async ask(request: ModelRequest, signal: AbortSignal): Promise<Batches> {
    const { gaps, onWarning } = this.#options;
    const { model } = request;
    const found = new Set(gaps.of(model));
    for (;;) {
      try {
        const turn = await this.#send(await this.map(request, found), request, signal);
        gaps.remember(model, found);
        return turn;
      } catch (refusal) {
        const gap = gapIn(refusal, request);
        if (gap === null || found.has(gap)) throw refusal;
        found.add(gap);
        if (gap === "encrypted") onWarning(NO_LONGER_READABLE, model);
      }
    }
  }

  /** The request as the server gets it. */
  async map(request: ModelRequest, gaps?: ReadonlySet<ServerGap>): Promise<MappedResponsesRequest> {
    const lacks = gaps ?? this.#options.gaps.of(request.model);
    const { key, isReference } = this.#options;
    const form: RequestForm = {
      server: key,
      isReference,
      asksForSeals: !lacks.has("encrypting"),
      sendsSeals: !lacks.has("encrypted"),
    };
    return await mapResponsesRequest(lacks.has("extras") ? { ...request, extras: null } : request, form);
  }

  async #send(
    { body, toolNames }: MappedResponsesRequest,
    request: ModelRequest,
    signal: AbortSignal,
  ): Promise<Batches> {
    const { server, idleMs, totalMs } = this.#options;
    const { model, trace } = request;
    const httpBody = await requestBody(body);
    // undici calls back outside of the recorded work.
    const call = { server, path: PATH, idleMs, trace, recorder: exchangeRecorder() };
    const context = { model, ...server.secrets, api: API };
    const stream = this.#streamFor(toolNames, this.#options.tokens.learner(request), context);
    const askPlain = (): void => {
      requestBody({ ...body, stream: false }).then(
        (plain) => sendTurn(turn, plain, call),
        (error: unknown) => turn.onResponseError(null, error instanceof Error ? error : new Error(String(error))),
      );
    };
    const turn = new UpstreamTurn({ stream, context, totalMs, idleMs, signal, tokens: null }, httpBody.parts, askPlain);
    if (!signal.aborted) sendTurn(turn, httpBody, call);
    return await turn.acceptance;
  }

  /** Separate from `#send`, whose closures keep the request in memory: a reader lives as long as the answer. */
  #streamFor(
    toolNames: MappedResponsesRequest["toolNames"],
    onUsage: ReturnType<ResponsesTokenCounter["learner"]>,
    context: ErrorContext,
  ): ResponsesStream {
    const { key: server } = this.#options;
    const onSkipped = (type: string): void => this.#warnOfSkipped(type, context.model);
    return new ResponsesStream(new AnswerReader({ toolNames, server, onUsage, onSkipped }), context);
  }

  #warnOfSkipped(type: string, model: string): void {
    if (this.#skippedTypes.has(type) || this.#skippedTypes.size === SKIPPED_TYPES_MAX) return;
    this.#skippedTypes.add(type);
    const shownType = /^[\w.]{1,80}$/.test(type) ? type : "an unknown type";
    this.#options.onWarning(`the model server sent ${shownType}, which was skipped`, model);
  }
}

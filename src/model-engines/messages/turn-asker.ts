import { exchangeRecorder } from "@antiphon/base/exchanges/exchange-recording.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import type { ServerAddress } from "../model-server/ask-server.ts";
import { requestBody } from "../model-server/connections/request-body.ts";
import type { ErrorContext } from "../model-server/errors/upstream-error.ts";
import { sendTurn } from "../model-server/reply/send-turn.ts";
import { type TurnOptions, UpstreamTurn } from "../model-server/reply/upstream-turn.ts";
import { explainMessagesFault, explainMessagesRefusal } from "./errors/messages-error.ts";
import { MessageReader, type MessageReaderOptions } from "./reply/message-reader.ts";
import { MessageStream } from "./reply/message-stream.ts";
import { type MappedMessages, mapToMessages } from "./request/map-request.ts";
import type { MessagesRequest } from "./request/messages-wire.ts";
import { type ModelForms, nextForms } from "./request/request-forms.ts";
import type { MessageTokenCounter } from "./tokens/message-token-counter.ts";

/** How often a turn is sent in another form after a refusal. */
const FORMS_TRIED_MAX = 8;
const THINKING_DROPPED = "the model server did not know the thinking of earlier turns; it was asked without";

export interface MessageAskerOptions {
  readonly server: ServerAddress;
  readonly forms: ModelForms;
  readonly tokens: Pick<MessageTokenCounter, "learner" | "usageOf">;
  /** Maximum time without a byte. */
  readonly idleMs: number;
  /** Maximum time of the whole turn. */
  readonly totalMs: number;
  readonly onWarning: (warning: string, model: string) => void;
}

type Batches = AsyncIterable<readonly ModelEvent[]>;

/** The parts of a turn beside its body. Without the request, so that its history does not stay in memory. */
interface SentTurn extends Pick<MessageReaderOptions, "toolNames"> {
  readonly model: string;
  readonly trace: ModelRequest["trace"];
  readonly onUsage: NonNullable<MessageReaderOptions["onUsage"]>;
  readonly signal: AbortSignal;
}

/** Sends turns to a model server. */
export class MessageAsker {
  readonly #options: MessageAskerOptions;

  constructor(options: MessageAskerOptions) {
    this.#options = options;
  }

  /** Sends the turn, and again in another form each time that the model does not know the form. */
  async ask(request: ModelRequest, signal: AbortSignal): Promise<Batches> {
    const { forms: known, onWarning } = this.#options;
    const { model } = request;
    const isLimitChosen = request.maxOutputTokens !== null;
    let forms = known.of(model);
    for (let tried = 1; ; tried += 1) {
      const mapped = await mapToMessages(request, forms);
      try {
        const turn = await this.#send(mapped, request, signal);
        known.remember(model, forms);
        return turn;
      } catch (refusal) {
        const next = tried < FORMS_TRIED_MAX ? nextForms(forms, refusal, mapped.body, isLimitChosen) : null;
        if (next === null) throw refusal;
        if (forms.keepsThinking && !next.keepsThinking) onWarning(THINKING_DROPPED, model);
        forms = next;
      }
    }
  }

  async #send({ body, toolNames }: MappedMessages, request: ModelRequest, signal: AbortSignal): Promise<Batches> {
    const { model, trace } = request;
    return await this.#sendBody(body, {
      model,
      trace,
      toolNames,
      onUsage: this.#options.tokens.learner(request),
      signal,
    });
  }

  async #sendBody(body: MessagesRequest, sentTurn: SentTurn): Promise<Batches> {
    const { signal, trace } = sentTurn;
    const httpBody = await requestBody(body);
    const recorder = exchangeRecorder(); // undici calls back outside of the recorded work.
    const { server, idleMs } = this.#options;
    const call = { server, path: "/messages", idleMs, trace, recorder };
    const askPlain = (): void => {
      requestBody({ ...body, stream: false }).then(
        (plain) => sendTurn(turn, plain, call),
        (error: unknown) => turn.onResponseError(null, error instanceof Error ? error : new Error(String(error))),
      );
    };
    const turn = new UpstreamTurn(this.#turnOptions(sentTurn), httpBody.parts, askPlain);
    if (!signal.aborted) sendTurn(turn, httpBody, call);
    return await turn.acceptance;
  }

  /** Separate from `#sendBody`, whose closures keep the request in memory: these live as long as the answer. */
  #turnOptions({ model, toolNames, onUsage, signal }: SentTurn): TurnOptions {
    const { server, idleMs, totalMs, tokens, onWarning } = this.#options;
    const context: ErrorContext = { model, ...server.secrets, api: "messages API" };
    const reader = new MessageReader({ toolNames, onUsage, onWarning: (warning) => onWarning(warning, model) });
    return {
      stream: new MessageStream(reader, (fault) => explainMessagesFault(fault, context)),
      context,
      explain: explainMessagesRefusal,
      tokens,
      totalMs,
      idleMs,
      signal,
    };
  }
}

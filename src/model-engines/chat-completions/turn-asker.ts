import { exchangeRecorder } from "@antiphon/base/exchanges/exchange-recording.ts";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import type { ChatRequest } from "../context/chat-wire.ts";
import type { ToolNames } from "../context/tool-names.ts";
import type { ServerAddress } from "../model-server/ask-server.ts";
import { requestBody } from "../model-server/connections/request-body.ts";
import type { ErrorContext } from "../model-server/errors/upstream-error.ts";
import { sendTurn } from "../model-server/reply/send-turn.ts";
import { UpstreamTurn } from "../model-server/reply/upstream-turn.ts";
import type { BackendProfile } from "./profile.ts";
import { ChunkReader } from "./reply/chunk-reader.ts";
import { ChunkStream } from "./reply/chunk-stream.ts";
import { HeldAnswer } from "./reply/held-answer.ts";
import { askToolName } from "./request/ask-tool-name.ts";
import { mapRequest } from "./request/map-request.ts";
import { type RequiredCalls, withNamedChoice } from "./request/required-calls.ts";
import { inSchemaForm, nextSchemaForm, type SchemaForms } from "./request/schema-forms.ts";
import type { TokenCounter, UsageReader } from "./tokens/token-counter.ts";

const NO_CALL = "the model server ignores tool_choice required";
const LATE_CONTENT = "the model server sent content after its finish reason; it was dropped";

export interface TurnAskerOptions {
  readonly server: ServerAddress;
  readonly profile: BackendProfile;
  readonly schemaForms: SchemaForms;
  readonly requiredCalls: RequiredCalls;
  /** Maximum time without a byte. */
  readonly idleMs: number;
  /** Maximum time of the whole turn. */
  readonly totalMs: number;
  /** Called before a turn is sent. */
  readonly prepare: (chat: ChatRequest, beginning: string | undefined, signal: AbortSignal) => Promise<ChatRequest>;
  readonly tokens: Pick<TokenCounter, "learner" | "usageOf">;
  /** Called with a sentence if the server broke the protocol in a way that was corrected. */
  readonly onWarning: (warning: string, model: string) => void;
}

type Batches = AsyncIterable<readonly ModelEvent[]>;

/** The parts of a turn beside its body. Without the request, so that its history does not stay in memory. */
interface TurnContext {
  readonly model: string;
  readonly trace: ModelRequest["trace"];
  readonly toolNames: ToolNames;
  readonly wantsLogprobs: boolean;
  readonly usageReader: UsageReader;
  readonly signal: AbortSignal;
}

/** Sends turns to a model server. */
export class TurnAsker {
  readonly #options: TurnAskerOptions;

  constructor(options: TurnAskerOptions) {
    this.#options = options;
  }

  /** See `ModelEngine.sample`. */
  async ask(request: ModelRequest, signal: AbortSignal, beginning: string | undefined): Promise<Batches> {
    const { body, toolNames } = await mapRequest(request, this.#options.profile);
    const { model, trace } = request;
    const wantsLogprobs = request.topLogprobs !== null;
    const context = {
      model,
      trace,
      toolNames,
      wantsLogprobs,
      usageReader: this.#options.tokens.learner(request),
      signal,
    };
    const chat = await this.#options.prepare(body, beginning, signal);
    const isReference = this.#options.profile.knowsVendorFields;
    if (chat.tool_choice !== "required" || beginning !== undefined || isReference)
      return await this.#sendInForms(chat, context);
    return await this.#sendRequired(chat, context);
  }

  /** Some servers ignore the choice `required`. The first answer of each model shows whether its server does. */
  async #sendRequired(chat: ChatRequest, context: TurnContext): Promise<Batches> {
    const { requiredCalls, onWarning } = this.#options;
    const { model } = chat;
    const behaviour = requiredCalls.of(model);
    if (behaviour === "ignores") {
      const forcedAnswer = await this.#sendForced(chat, context);
      if (forcedAnswer !== null) return forcedAnswer;
    }
    const answer = await this.#sendInForms(chat, context);
    if (behaviour !== "unknown") return answer;
    return new HeldAnswer(answer, {
      onCall: () => requiredCalls.remember(model, "honours"),
      replace: async () => {
        onWarning(NO_CALL, model);
        return await this.#sendForced(chat, context);
      },
    });
  }

  /** Sends the turn with the choice of one tool. Null if that is impossible; never rejects. */
  async #sendForced(chat: ChatRequest, context: TurnContext): Promise<Batches | null> {
    const { server, requiredCalls } = this.#options;
    const [tool, ...others] = chat.tools ?? [];
    const name = others.length === 0 ? tool?.function.name : await askToolName(server, chat, context.signal);
    const remember = (does: "ignores" | "cannot"): null => {
      if (!context.signal.aborted) requiredCalls.remember(chat.model, does);
      return null;
    };
    if (name === undefined || name === null) return remember("cannot");
    try {
      const answer = await this.#sendInForms(withNamedChoice(chat, name), context);
      return new HeldAnswer(answer, { onCall: () => remember("ignores"), replace: async () => remember("cannot") });
    } catch (error) {
      return error instanceof ModelError && error.type === "invalid_request_error" ? remember("cannot") : null;
    }
  }

  /** Sends the turn, and again in another form each time the server does not know the form. */
  #sendInForms(chat: ChatRequest, context: TurnContext): Promise<Batches> {
    const hasSchema = chat.response_format?.type === "json_schema";
    return hasSchema ? this.#sendSchema(chat, context) : this.#send(chat, context);
  }

  async #sendSchema(chat: ChatRequest, context: TurnContext): Promise<Batches> {
    const { schemaForms, profile } = this.#options;
    let form = schemaForms.formFor(chat.model);
    for (;;) {
      try {
        const turn = await this.#send(inSchemaForm(chat, form), context);
        schemaForms.remember(chat.model, form);
        return turn;
      } catch (refusal) {
        const next = profile.knowsVendorFields ? null : nextSchemaForm(form, refusal);
        if (next === null) throw refusal;
        form = next;
      }
    }
  }

  async #send(chat: ChatRequest, turnContext: TurnContext): Promise<Batches> {
    const { model, trace, signal } = turnContext;
    const { server, idleMs, totalMs, tokens } = this.#options;
    const httpBody = await requestBody(chat);
    const context = { model, ...server.secrets };
    const stream = this.#streamFor(turnContext, context);
    // undici calls back outside of the recorded work.
    const call = { server, path: "/chat/completions", idleMs, trace, recorder: exchangeRecorder() };
    const askPlain = (): void => {
      requestBody(withoutStream(chat)).then(
        (plain) => sendTurn(turn, plain, call),
        (error: unknown) => turn.onResponseError(null, error instanceof Error ? error : new Error(String(error))),
      );
    };
    const turn = new UpstreamTurn({ stream, context, totalMs, idleMs, signal, tokens }, httpBody.parts, askPlain);
    if (!signal.aborted) sendTurn(turn, httpBody, call);
    return await turn.acceptance;
  }

  /** Separate from `#send`, whose closures keep the request in memory: a reader lives as long as the answer. */
  #streamFor({ model, toolNames, wantsLogprobs, usageReader }: TurnContext, context: ErrorContext): ChunkStream {
    const { profile, onWarning } = this.#options;
    const reader = new ChunkReader({
      toolNames,
      reasoningTags: profile.reasoningTags,
      wantsLogprobs,
      ...usageReader,
      onLateContent: () => onWarning(LATE_CONTENT, model),
    });
    return new ChunkStream(reader, context);
  }
}

function withoutStream({ stream: _stream, stream_options: _options, ...others }: ChatRequest): object {
  return { ...others, stream: false };
}

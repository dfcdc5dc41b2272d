import type { ResponseNote } from "../../../generated/responses-api/types.ts";
import type { ModelRequest } from "../request/model-request.ts";
import type { ModelEvent } from "./model-events.ts";

export interface ModelDescription {
  readonly id: string;
  /** In Unix seconds; 0 if the model server does not say. */
  readonly created: number;
  readonly ownedBy: string;
  /** A text for people, such as one that explains the built-in engine. */
  readonly description?: string;
}

/** The number of tokens in a turn's input. */
export interface TokenCount {
  readonly tokens: number;
  /** True if the model's own tokenizer and chat template counted; false if it is an estimate. */
  readonly exact: boolean;
}

/** The kinds of input that a model server takes beside text. Other kinds are converted or refused. */
export interface ModelAbilities {
  readonly images: boolean;
  /** Whether it fetches pictures by URL itself. If not, they are sent as data URLs. */
  readonly imageUrls: boolean;
  /** Whether it reads files that are not text, such as PDFs. */
  readonly files: boolean;
  /** The sound formats it takes. */
  readonly audioFormats: readonly ("mp3" | "wav")[];
}

/** What a model does by itself. Responses echo it; it is not sent to the model. */
export interface ReasoningDefaults {
  readonly context: "current_turn" | "all_turns";
  readonly effort: "none" | "medium";
  readonly mode: "standard";
}

/** Asks a model. Each vendor's API has its own implementation. */
export interface ModelEngine {
  /** Shown in logs and in the start banner. */
  readonly name: string;
  readonly abilities: ModelAbilities;
  /**
   * Resolves once the model server has accepted the turn; rejects with `ModelError` if it refused (unknown model, no
   * quota, input too long). A batch holds the events that arrived together and is never empty. The iterable throws
   * `ModelError` if the turn fails later. When `signal` aborts it ends without throwing. Leaving the iteration aborts
   * the call.
   */
  sample(request: ModelRequest, signal: AbortSignal, begun?: string): Promise<AsyncIterable<readonly ModelEvent[]>>;
  /**
   * Whether `sample` can be given the beginning of the answer, `begun`, and then gives what follows it. May ask the
   * model server, once for each model. Never rejects.
   */
  continuesAnswers(model: string, signal: AbortSignal): Promise<boolean>;
  listModels(signal: AbortSignal): Promise<readonly ModelDescription[]>;
  /**
   * The input tokens that `sample` would report for this turn. May ask the model server. Rejects with the `ModelError`
   * of every check that `sample` makes before it asks the model server.
   */
  countTokens(request: ModelRequest, signal: AbortSignal): Promise<TokenCount>;
  /**
   * The input tokens of a turn whose server has counted none. As `countTokens`, but the model server is asked only if
   * it is known to answer.
   */
  estimateTokens(request: ModelRequest, signal: AbortSignal): Promise<number>;
  /** How the model reasons where a request does not say it; null if that is unknown, or if it does not reason. */
  reasoningDefaults(model: string): ReasoningDefaults | null;
  /** Where the engine does not send exactly what a turn asks. What the field ledger says is not among it. */
  notesOn(request: ModelRequest): readonly ResponseNote[];
  /**
   * The maximum of input and output tokens together; null if neither the operator nor the model server gives it. The
   * result is cached. Never rejects.
   */
  contextWindow(model: string, signal: AbortSignal): Promise<number | null>;
}

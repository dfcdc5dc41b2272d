import type { ResponseNote } from "@antiphon/contracts/responses-api/types.ts";
import type { ModelEvent } from "./model-events.ts";
import type { ModelRequest } from "./model-request.ts";
import type { Embeddings, EmbeddingsRequest, Ranks, RanksRequest } from "./retrieval.ts";

export interface ModelDescription {
  readonly id: string;
  /** In Unix seconds; 0 if the model server does not say. */
  readonly created: number;
  readonly ownedBy: string;
  /** A description for people, such as one for the built-in engine. */
  readonly description?: string;
  /** Who may use it, as organizations and `organization/project`; null or absent for everybody. */
  readonly owners?: readonly string[] | null;
}

/** The number of tokens in a turn's input. */
export interface TokenCount {
  readonly tokens: number;
  /** True if the model's own tokenizer and chat template counted; false for an estimate. */
  readonly exact: boolean;
}

/** The kinds of input beside text that a model server accepts. Other kinds are converted or refused. */
export interface ModelAbilities {
  readonly images: boolean;
  /** Whether it fetches images by URL itself. If not, they are sent as data URLs. */
  readonly imageUrls: boolean;
  /** Whether it reads files that are not text, such as PDFs. */
  readonly files: boolean;
  /** The audio formats that it accepts. */
  readonly audioFormats: readonly ("mp3" | "wav")[];
}

/** The model's defaults. Responses echo them; they are not sent to the model. */
export interface ReasoningDefaults {
  readonly context: "current_turn" | "all_turns";
  readonly effort: "none" | "medium";
  readonly mode: "standard";
}

/** The model server that answers a turn, and its name for the model. */
export interface AnsweringServer {
  readonly server: string;
  readonly model: string;
}

/** Calls a model. Each vendor's API has its own implementation. */
export interface ModelEngine {
  /** Shown in logs and in the start banner. */
  readonly name: string;
  abilitiesOf(model: string): ModelAbilities;
  /**
   * Resolves once the model server has accepted the turn; rejects with `ModelError` if it refused (unknown model, no
   * quota, input too long). A batch contains the events that arrived together and is never empty. The iterable throws
   * `ModelError` if the turn fails later. When `signal` aborts, it ends without throwing. Leaving the iteration aborts
   * the call. `onAnsweredBy` is told which of several model servers answers, before the promise resolves.
   */
  sample(
    request: ModelRequest,
    signal: AbortSignal,
    beginning?: string,
    onAnsweredBy?: (server: AnsweringServer) => void,
  ): Promise<AsyncIterable<readonly ModelEvent[]>>;
  /**
   * Whether `sample` accepts the beginning of the answer as `begun` and returns only the continuation. May call the
   * model server, once for each model. Never rejects.
   */
  continuesAnswers(model: string, signal: AbortSignal): Promise<boolean>;
  listModels(signal: AbortSignal): Promise<readonly ModelDescription[]>;
  /**
   * The input tokens that `sample` would report for this turn. May call the model server. Rejects with the `ModelError`
   * of every check that `sample` makes before its call.
   */
  countTokens(request: ModelRequest, signal: AbortSignal): Promise<TokenCount>;
  /**
   * The input tokens of a turn whose server reported none. Like `countTokens`, but calls the model server only if it is
   * known to respond.
   */
  estimateTokens(request: ModelRequest, signal: AbortSignal): Promise<number>;
  /** How the model reasons by default; null if unknown, or if it does not reason. */
  reasoningDefaults(model: string): ReasoningDefaults | null;
  /**
   * Notes on deviations between a turn and the request that the engine sends. Excludes deviations in the field ledger.
   */
  notesOn(request: ModelRequest): readonly ResponseNote[];
  /**
   * The maximum of input and output tokens together; null if neither the operator nor the model server reports it. The
   * result is cached. Never rejects.
   */
  contextWindow(model: string, signal: AbortSignal): Promise<number | null>;
  /**
   * The vectors of texts. All come from one server. Rejects with `ModelError`, or with the signal's reason if it
   * aborts. `onAnsweredBy` is told which of several model servers answers, before the promise resolves.
   */
  embed(
    request: EmbeddingsRequest,
    signal: AbortSignal,
    onAnsweredBy?: (server: AnsweringServer) => void,
  ): Promise<Embeddings>;
  /** How well documents answer a question. Rejects and tells like `embed`. */
  rerank(request: RanksRequest, signal: AbortSignal, onAnsweredBy?: (server: AnsweringServer) => void): Promise<Ranks>;
}

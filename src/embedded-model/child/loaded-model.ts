import type { ClosingBiases } from "./answer/closing.ts";
import type { EngineContext, EngineGrammar, EngineModel, EngineSequence, GrammarState } from "./engine-api.ts";
import type { GrammarCache } from "./grammar/grammar-cache.ts";
import type { ChatTemplate } from "./prompt/chat-template.ts";

/** How a model samples if a request does not say. */
export interface SamplingAdvice {
  readonly temperature: number;
  readonly topP: number;
}

/** A model that answers. */
export interface LoadedModel {
  readonly model: EngineModel;
  readonly context: EngineContext;
  readonly sequences: readonly EngineSequence[];
  readonly newGrammarState: (grammar: EngineGrammar) => GrammarState;
  readonly grammars: GrammarCache;
  readonly closing: ClosingBiases;
  /** The template, or the sentence that says why there is none. */
  readonly template: ChatTemplate | string;
  /** Tokens of input and answer together. */
  readonly window: number;
  /** How many tokens are read at once. */
  readonly stepTokens: number;
  readonly advice: SamplingAdvice;
  /** Its name, from the file, and the one that every file has. */
  readonly names: readonly [string, string];
}

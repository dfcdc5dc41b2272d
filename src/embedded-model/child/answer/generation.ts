import type { EngineGrammar, EngineModel, EngineSequence, GrammarState, SamplingOptions } from "../engine-api.ts";
import { tooLongForWindow } from "../request-refused.ts";
import type { ClosingBiases, OpenJson } from "./closing.ts";
import { commonLength } from "./slots.ts";

export interface GenerationParts {
  readonly model: EngineModel;
  readonly sequence: EngineSequence;
  /** Tokens of input and answer together. */
  readonly window: number;
  /** How many tokens are read before the signal is looked at again. */
  readonly stepTokens: number;
  readonly newGrammarState: (grammar: EngineGrammar) => GrammarState;
  readonly closing: ClosingBiases;
  readonly signal: AbortSignal;
  /** Called after each step of reading. */
  readonly onStep: () => void;
}

/** Small models repeat a clause until the window is full, unless words that they have just written cost something. */
const REPEAT_PENALTY = 1.1;
const PUNISHED_TOKENS = 64;
/** Under a grammar, only what repeats itself word for word costs something: the words of a shape must come again. */
const VERBATIM_PENALTY = { strength: 0.8, allowedLength: 4 } as const;

/** `end`: the model said that it is done; `limit`: the limit or the window is reached. */
export type GenerationEnd = "end" | "limit" | "stopped";

export interface Sampled {
  readonly options: Pick<SamplingOptions, "temperature" | "topP" | "topK" | "seed">;
  readonly frequencyPenalty: number;
  readonly presencePenalty: number;
  /** Null if the model writes freely. */
  readonly shape: WrittenShape | null;
}

/** What the model writes under a grammar. */
export interface WrittenShape {
  readonly grammar: EngineGrammar;
  /** Null if it need not be ended before the limit. */
  readonly json: OpenJson | null;
}

/** One stretch of writing. */
interface Stretch {
  readonly options: SamplingOptions;
  /** Returns false to stop. */
  readonly onToken: (token: number) => boolean;
  /** Whether another stretch has to go on. */
  readonly isOver: () => boolean;
}

/**
 * One answer in one slot: reads the prompt but for what the slot has read before, then writes in stretches, each freely
 * or under a grammar. All reject with the signal's reason once it aborts, within one step.
 */
export class Generation {
  readonly #parts: GenerationParts;
  readonly #promptLength: number;
  readonly #tokensMax: number;
  /** The last token of what is known: it is read with the next step, because only then the next one can be chosen. */
  #pending: number[] = [];
  readonly #output: number[] = [];
  readonly cachedTokens: number;

  private constructor(parts: GenerationParts, promptLength: number, cachedTokens: number, tokensMax: number) {
    this.#parts = parts;
    this.#promptLength = promptLength;
    this.#tokensMax = tokensMax;
    this.cachedTokens = cachedTokens;
  }

  /** Reads a prompt. Rejects with `RequestRefused` if no answer would fit behind it. */
  static async begin(parts: GenerationParts, prompt: readonly number[], tokensMax: number | null): Promise<Generation> {
    const { sequence, window } = parts;
    if (prompt.length >= window) throw tooLongForWindow(prompt.length, window);
    const common = Math.min(commonLength(sequence.contextTokens, prompt), prompt.length - 1);
    if (sequence.nextTokenIndex > common) await truncate(sequence, common);
    const reuse = Math.min(common, sequence.nextTokenIndex);
    const generation = new Generation(parts, prompt.length, reuse, tokensMax ?? window);
    await generation.#read(prompt.slice(reuse, -1));
    generation.#pending = prompt.slice(-1);
    return generation;
  }

  get outputTokens(): number {
    return this.#output.length;
  }

  get output(): readonly number[] {
    return this.#output;
  }

  /** Takes back the last token that the model wrote. It has not been read yet. */
  takeBack(): void {
    this.#output.pop();
    this.#pending = [];
  }

  /** Writes a text itself, as if the model had. It counts as output. False if it does not fit. */
  async force(tokens: readonly number[]): Promise<boolean> {
    if (this.#room() < tokens.length) return false;
    const all = [...this.#pending, ...tokens];
    await this.#read(all.slice(0, -1));
    this.#pending = all.slice(-1);
    this.#output.push(...tokens);
    return true;
  }

  /**
   * Lets the model write until it ends, or `onToken` returns false. The token that ends an answer is neither counted
   * nor passed on. JSON of a grammar is ended before the limit: from some point on, the model writes what closes it.
   */
  async write({ options, shape, ...penalties }: Sampled, onToken: (token: number) => boolean): Promise<GenerationEnd> {
    const { newGrammarState, closing } = this.#parts;
    if (this.#room() <= 0) return "limit";
    const json = shape?.json ?? null;
    const shared = {
      ...options,
      ...(shape === null ? {} : { grammarEvaluationState: newGrammarState(shape.grammar) }),
      yieldEogToken: true,
    } as const;
    const closesFrom = this.#room() / 2;
    const end = await this.#writeStretch({
      options: { ...shared, ...this.#penaltiesOf(penalties, shape === null) },
      onToken,
      isOver: () => json !== null && this.#room() <= Math.min(json.tokensToEnd, closesFrom),
    });
    if (end !== "over" || json === null) return end === "over" ? "limit" : end;
    const tokenBias = () => (json.isInString ? closing.inString : closing.elsewhere);
    const closed = await this.#writeStretch({ options: { ...shared, tokenBias }, onToken, isOver: () => false });
    return closed === "over" ? "limit" : closed;
  }

  async #writeStretch({ options, onToken, isOver }: Stretch): Promise<GenerationEnd | "over"> {
    const { model, sequence, signal } = this.#parts;
    const tokens = sequence.evaluate(this.#pending, options);
    try {
      for (;;) {
        const { value: token, done } = await tokens.next();
        signal.throwIfAborted();
        if (done === true || token === undefined || model.isEogToken(token)) return "end";
        // The sampler has chosen it; it is read with the next step.
        this.#pending = [token];
        this.#output.push(token);
        if (!onToken(token)) return "stopped";
        if (this.#room() <= 0) return "limit";
        if (isOver()) return "over";
      }
    } finally {
      await tokens.return(undefined);
    }
  }

  /** The wanted penalties, or else a mild one of ours. */
  #penaltiesOf(
    { frequencyPenalty, presencePenalty }: Pick<Sampled, "frequencyPenalty" | "presencePenalty">,
    isFree: boolean,
  ): Pick<SamplingOptions, "repeatPenalty" | "dryRepeatPenalty"> {
    const isWanted = frequencyPenalty !== 0 || presencePenalty !== 0;
    if (!isWanted && !isFree) return { dryRepeatPenalty: VERBATIM_PENALTY };
    const punishTokens = (): number[] => this.#output.slice(-PUNISHED_TOKENS);
    return {
      repeatPenalty: { punishTokens, penalty: isWanted ? 1 : REPEAT_PENALTY, frequencyPenalty, presencePenalty },
    };
  }

  /** How many more tokens may be written. */
  #room(): number {
    const space = this.#parts.window - this.#promptLength - this.#output.length;
    return Math.min(space, this.#tokensMax - this.#output.length);
  }

  /** Reads tokens in steps. */
  async #read(tokens: readonly number[]): Promise<void> {
    const { sequence, stepTokens, signal, onStep } = this.#parts;
    for (let at = 0; at < tokens.length; at += stepTokens) {
      signal.throwIfAborted();
      await sequence.evaluateWithoutGeneratingNewTokens(tokens.slice(at, at + stepTokens));
      onStep();
    }
    signal.throwIfAborted();
  }
}

/** Forgets what stands behind the first tokens. */
async function truncate(sequence: EngineSequence, length: number): Promise<void> {
  if (length === 0) return await sequence.clearHistory();
  await sequence.eraseContextTokenRanges([{ start: length, end: sequence.nextTokenIndex }]);
}

import { join } from "node:path";
import { pathToFileURL } from "node:url";

/**
 * The part of node-llama-cpp that the child uses. The package is no dependency of ours, so its types are not at hand.
 * Source: the type declarations of version 3.22.
 */
export interface EngineModule {
  getLlama(options: {
    readonly gpu: false;
    readonly build: "never";
    readonly skipDownload: true;
    readonly progressLogs: false;
    readonly maxThreads: number;
    readonly logLevel: "error" | "warn";
    readonly logger: (level: string, message: string) => void;
  }): Promise<Llama>;
  readonly LlamaGrammarEvaluationState: new (options: {
    readonly model: EngineModel;
    readonly grammar: EngineGrammar;
  }) => GrammarState;
  readonly TokenBias: { for(model: EngineModel): TokenBias };
}

/** What is added to the scores of tokens before one is chosen. */
export interface TokenBias {
  set(tokens: number[], bias: { readonly logit: number }): TokenBias;
}

export interface Llama {
  loadModel(options: {
    readonly modelPath: string;
    readonly gpuLayers: 0;
    readonly ignoreMemorySafetyChecks?: boolean;
    readonly onLoadProgress?: (share: number) => void;
  }): Promise<EngineModel>;
  createGrammar(options: { readonly grammar: string }): Promise<EngineGrammar>;
}

/** A compiled grammar. */
export interface EngineGrammar {
  readonly grammar: string;
}

/** Where one answer stands in its grammar. */
export interface GrammarState {
  clone(): GrammarState;
}

export interface EngineModel {
  readonly architecture: string;
  readonly trainContextSize: number;
  readonly tokens: {
    readonly bosString: string | null;
    readonly eosString: string | null;
    readonly bos: number | null;
    readonly shouldPrependBosToken: boolean;
  };
  readonly fileInfo: { readonly metadata: Readonly<Record<string, unknown>> };
  tokenize(text: string, specialTokens: boolean, options?: "trimLeadingSpace"): number[];
  detokenize(tokens: readonly number[], specialTokens: boolean, lastTokens?: readonly number[]): string;
  isEogToken(token: number): boolean;
  createContext(options: {
    readonly sequences: number;
    readonly contextSize: number;
    readonly batchSize: number;
    readonly threads: number;
    readonly swaFullCache: boolean;
    readonly ignoreMemorySafetyChecks?: boolean;
  }): Promise<EngineContext>;
  createEmbeddingContext(options: {
    readonly contextSize: number;
    readonly batchSize: number;
    readonly threads: number;
  }): Promise<EmbeddingContext>;
}

/** Turns one text after the other into a vector. */
export interface EmbeddingContext {
  /** Takes the tokens without those that begin and end a text, which it adds. */
  getEmbeddingFor(tokens: number[]): Promise<{ readonly vector: readonly number[] }>;
}

export interface EngineContext {
  readonly contextSize: number;
  getSequence(options: { readonly contextShift: { readonly strategy: () => never } }): EngineSequence;
}

/** The memory of one conversation. */
export interface EngineSequence {
  readonly nextTokenIndex: number;
  readonly contextTokens: readonly number[];
  clearHistory(): Promise<void>;
  eraseContextTokenRanges(ranges: readonly { readonly start: number; readonly end: number }[]): Promise<void>;
  evaluateWithoutGeneratingNewTokens(tokens: readonly number[]): Promise<void>;
  evaluate(tokens: readonly number[], options: SamplingOptions): AsyncGenerator<number, void, undefined>;
}

export interface SamplingOptions {
  readonly temperature: number;
  readonly topP: number;
  readonly topK: number;
  readonly seed?: number;
  readonly grammarEvaluationState?: GrammarState;
  readonly repeatPenalty?: {
    readonly punishTokens: () => number[];
    readonly penalty: number;
    readonly frequencyPenalty: number;
    readonly presencePenalty: number;
  };
  readonly dryRepeatPenalty?: { readonly strength: number; readonly allowedLength: number };
  /** Asked before each token. */
  readonly tokenBias?: () => TokenBias;
  readonly yieldEogToken: true;
}

/** Its interpreter of chat templates. */
export interface JinjaModule {
  readonly Template: new (source: string) => { render(values: Readonly<Record<string, unknown>>): string };
}

/** Loads both packages from the folder that `antiphon pull` filled. */
export async function loadEnginePackages(
  folder: string,
): Promise<{ readonly engine: EngineModule; readonly jinja: JinjaModule }> {
  const load = (path: string): Promise<unknown> => import(pathToFileURL(join(folder, "node_modules", path)).href);
  const engine = await load("node-llama-cpp/dist/index.js");
  const jinja = await load("@huggingface/jinja/dist/index.js");
  if (!isEngine(engine) || !isJinja(jinja)) throw new Error("the engine's packages are of another version");
  return { engine, jinja };
}

function isEngine(value: unknown): value is EngineModule {
  return (
    typeof value === "object" &&
    value !== null &&
    "getLlama" in value &&
    "LlamaGrammarEvaluationState" in value &&
    "TokenBias" in value
  );
}

function isJinja(value: unknown): value is JinjaModule {
  return typeof value === "object" && value !== null && "Template" in value;
}

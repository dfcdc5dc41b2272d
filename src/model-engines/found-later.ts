import type { ModelEngine } from "@antiphon/domain/models/model-engine.ts";

/** The pause between two searches. */
const LOOK_PAUSE_MS = 2000;

export interface FoundLaterOptions {
  /** Serves its own model at any time, and every model until a server is found. */
  readonly standIn: ModelEngine;
  readonly standInModel: string;
  /** Looks for a model server. Null if there is none; must not reject. */
  readonly look: () => Promise<ModelEngine | null>;
  /** In milliseconds. */
  readonly now?: () => number;
}

export interface FoundLater {
  readonly engine: ModelEngine;
  readonly hasFound: () => boolean;
}

/**
 * An engine that searches for a model server on each request for another model than the stand-in's, or for the list of
 * models, until it has found one.
 */
export function createFoundLater(options: FoundLaterOptions): FoundLater {
  const { standIn, standInModel, look, now = () => performance.now() } = options;
  let foundEngine: ModelEngine | null = null;
  let looking: Promise<void> | null = null;
  let lookedAt = Number.NEGATIVE_INFINITY;
  const find = async (): Promise<void> => {
    if (foundEngine !== null || now() - lookedAt < LOOK_PAUSE_MS) return;
    looking ??= look().then((engine) => {
      foundEngine = engine;
      looking = null;
      lookedAt = now();
    });
    await looking;
  };
  const current = (model: string): ModelEngine => (model === standInModel ? standIn : (foundEngine ?? standIn));
  const engineFor = async (model: string): Promise<ModelEngine> => {
    if (model !== standInModel) await find();
    return current(model);
  };
  const engine: ModelEngine = {
    name: standIn.name,
    abilitiesOf: (model) => current(model).abilitiesOf(model),
    sample: async (request, signal, beginning) => (await engineFor(request.model)).sample(request, signal, beginning),
    continuesAnswers: async (model, signal) => (await engineFor(model)).continuesAnswers(model, signal),
    listModels: async (signal) => {
      await find();
      const own = await standIn.listModels(signal);
      return foundEngine === null ? own : [...(await foundEngine.listModels(signal)), ...own];
    },
    countTokens: async (request, signal) => (await engineFor(request.model)).countTokens(request, signal),
    estimateTokens: async (request, signal) => (await engineFor(request.model)).estimateTokens(request, signal),
    reasoningDefaults: (model) => current(model).reasoningDefaults(model),
    notesOn: (request) => current(request.model).notesOn(request),
    contextWindow: async (model, signal) => (await engineFor(model)).contextWindow(model, signal),
    embed: async (request, signal) => (await engineFor(request.model)).embed(request, signal),
    rerank: async (request, signal) => (await engineFor(request.model)).rerank(request, signal),
  };
  return { engine, hasFound: () => foundEngine !== null };
}

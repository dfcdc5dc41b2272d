import type { ModelAbilities, ModelDescription, ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { withNearModel } from "@antiphon/domain/models/near-model.ts";
import { callerFault, serverFault } from "./model-errors.ts";
import { MODEL_NAME } from "./model-name.ts";
import { planAnswer } from "./plan-answer.ts";
import { embedInputs, rankDocuments } from "./retrieval.ts";
import { findScenario, playScenario } from "./scenario/play-scenario.ts";
import type { ScenarioFile } from "./scenario/scenario-file.ts";
import { playSteps, type Step } from "./step.ts";
import { countInputTokens } from "./tokens.ts";

export interface BuiltInOptions {
  readonly scenario?: ScenarioFile | null;
  /** Delay between two tokens in milliseconds, so that clients see a stream; 0 by default. */
  readonly tokenDelayMs?: number;
  /** A turn with more input tokens is refused; null for no limit. */
  readonly contextWindow?: number | null;
  /** The clock, in Unix seconds. Read once, as the creation time of the models. */
  readonly now?: () => number;
}

const ABILITIES: ModelAbilities = { images: true, imageUrls: true, files: false, audioFormats: [] };

/**
 * Answers turns in process by fixed rules, without a network. Meant for first runs, tests and client development; it is
 * not a language model.
 */
export function createBuiltInEngine(options: BuiltInOptions = {}): ModelEngine {
  const { scenario = null, tokenDelayMs = 0, contextWindow = null, now = () => Date.now() / 1000 } = options;
  const models = describeModels(scenario?.models ?? [], Math.floor(now()));
  const checkModel = async ({ model }: Pick<ModelRequest, "model">): Promise<void> => {
    if (models.some(({ id }) => id === model)) return;
    const refusal = callerFault(`The requested model '${model}' does not exist.`, "model", "model_not_found");
    throw await withNearModel(refusal, model, async () => models);
  };
  return {
    name: "built-in",
    // Image URLs count as supported, so that no image is fetched: the engine only counts images.
    abilitiesOf: () => ABILITIES,
    async sample(request, signal) {
      await checkModel(request);
      const message = "Your input exceeds the context window of this model. Please adjust your input and try again.";
      if (contextWindow !== null && countInputTokens(request) > contextWindow)
        throw callerFault(message, "input", "context_length_exceeded");
      return playSteps(chooseSteps(request, scenario), tokenDelayMs, signal);
    },
    listModels: async () => models,
    async countTokens(request) {
      await checkModel(request);
      return { tokens: countInputTokens(request), exact: true };
    },
    estimateTokens: async (request) => countInputTokens(request),
    continuesAnswers: async () => false, // It says the same again.
    notesOn: ({ extras }) =>
      Object.keys({ ...extras?.unknown, ...extras?.standard })
        .filter((member) => member !== "stop") // The server itself ends answers at stop sequences.
        .map((what) => ({ kind: "omitted", what, why: "The built-in engine has nothing that it changes." })),
    reasoningDefaults: () => null,
    contextWindow: async () => contextWindow,
    async embed(request) {
      await checkModel(request);
      return embedInputs(request);
    },
    async rerank(request) {
      await checkModel(request);
      return rankDocuments(request);
    },
  };
}

function chooseSteps(request: ModelRequest, scenario: ScenarioFile | null): readonly Step[] {
  const fitting = scenario === null ? null : findScenario(scenario, request);
  if (fitting !== null) return playScenario(fitting.events, request);
  if (scenario?.fallback !== "error") return planAnswer(request);
  throw serverFault(
    "No scenario of the built-in engine's scenario file fits this request, and its fallback is 'error'.",
  );
}

function describeModels(scenarioModels: readonly string[], created: number): readonly ModelDescription[] {
  const own = "Deterministic, without weights: fixed rules, not a language model.";
  const played = "Played by the built-in engine from its scenario file; not a language model.";
  return [...new Set([MODEL_NAME, ...scenarioModels])].map((id) => {
    return { id, created, ownedBy: "antiphon", description: id === MODEL_NAME ? own : played };
  });
}

import type { ModelAbilities, ModelDescription, ModelEngine } from "../../runs/ports/model-engine.ts";
import type { ModelRequest } from "../../runs/request/model-request.ts";
import { withNearModel } from "../near-model.ts";
import { inputTooLong, modelNotFound, noScenarioFits } from "./model-errors.ts";
import { MODEL_NAME } from "./model-name.ts";
import { planAnswer } from "./plan-answer.ts";
import { playSteps } from "./play-steps.ts";
import { findScenario, playScenario } from "./scenario/play-scenario.ts";
import type { ScenarioFile } from "./scenario/scenario-file.ts";
import type { Step } from "./step.ts";
import { countInputTokens } from "./usage.ts";

export interface BuiltInOptions {
  readonly scenario?: ScenarioFile | null;
  /** Delay between two tokens in milliseconds, so that clients see a stream; 0 by default. */
  readonly tokenDelayMs?: number;
  /** A turn with more input tokens is refused; null for no limit. */
  readonly contextWindow?: number | null;
  /** The clock, in Unix seconds. Read once, as the creation time of the models. */
  readonly now?: () => number;
}

/** Image URLs count as supported, so that no image is fetched: the engine only counts images. */
const ABILITIES: ModelAbilities = { images: true, imageUrls: true, files: false, audioFormats: [] };

/**
 * Answers turns in process by fixed rules, without a network. Meant for first runs, tests and client development; it is
 * not a language model.
 */
export function createBuiltInEngine(options: BuiltInOptions = {}): ModelEngine {
  const { scenario = null, tokenDelayMs = 0, contextWindow = null, now = unixSeconds } = options;
  const models = describeModels(scenario?.models ?? [], Math.floor(now()));
  const checkModel = async ({ model }: ModelRequest): Promise<void> => {
    if (models.some(({ id }) => id === model)) return;
    throw await withNearModel(modelNotFound(model), model, async () => models);
  };
  return {
    name: "built-in",
    abilities: ABILITIES,
    async sample(request, signal) {
      await checkModel(request);
      if (contextWindow !== null && countInputTokens(request) > contextWindow) throw inputTooLong();
      return playSteps(chooseSteps(request, scenario), tokenDelayMs, signal);
    },
    async listModels() {
      return models;
    },
    async countTokens(request) {
      await checkModel(request);
      return { tokens: countInputTokens(request), exact: true };
    },
    estimateTokens: async (request) => countInputTokens(request),
    continuesAnswers: async () => false, // It says the same again.
    notesOn: () => [],
    reasoningDefaults: () => null,
    contextWindow: async () => contextWindow,
  };
}

function chooseSteps(request: ModelRequest, scenario: ScenarioFile | null): readonly Step[] {
  const fitting = scenario === null ? null : findScenario(scenario, request);
  if (fitting?.script.type === "refused") throw fitting.script.error;
  if (fitting !== null) return playScenario(fitting.script.events, request);
  if (scenario?.fallback === "error") throw noScenarioFits();
  return planAnswer(request);
}

function describeModels(scenarioModels: readonly string[], created: number): readonly ModelDescription[] {
  const names = [...new Set(scenarioModels)].filter((name) => name !== MODEL_NAME);
  return [
    {
      id: MODEL_NAME,
      created,
      ownedBy: "antiphon",
      description: "Deterministic, without weights: fixed rules, not a language model.",
    },
    ...names.map((id) => ({
      id,
      created,
      ownedBy: "antiphon",
      description: "Played by the built-in engine from its scenario file; not a language model.",
    })),
  ];
}

function unixSeconds(): number {
  return Date.now() / 1000;
}

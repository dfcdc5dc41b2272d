import type { ModelAbilities, ModelDescription, ModelEngine, ModelRequest } from "../../runs/ports.ts";
import { inputTooLong, modelNotFound, noScene } from "./model-errors.ts";
import { MODEL_NAME } from "./model-name.ts";
import { planAnswer } from "./plan-answer.ts";
import { playSteps } from "./play-steps.ts";
import { findScene, playScene } from "./scenario/play-scene.ts";
import type { Scenario } from "./scenario/scenario.ts";
import type { Step } from "./step.ts";
import { countInputTokens } from "./usage.ts";

export interface BuiltInOptions {
  readonly scenario?: Scenario | null;
  /** Between two tokens, so that clients see a stream. */
  readonly tokenDelayMs?: number;
  /** Tokens of input beyond which a turn is refused; null for no limit. */
  readonly contextWindow?: number | null;
  /** Unix seconds; the models are as old as the engine. */
  readonly now?: () => number;
}

/** It mentions pictures and never looks at them, so that none need be fetched. */
const ABILITIES: ModelAbilities = { images: true, imageUrls: true, files: false, audioFormats: [] };

/**
 * Answers turns in process, from fixed rules and without a network: for first runs, tests and the making of clients.
 * Not a language model.
 */
export function createBuiltInEngine(options: BuiltInOptions = {}): ModelEngine {
  const { scenario = null, tokenDelayMs = 0, contextWindow = null, now = unixSeconds } = options;
  const models = describeModels(scenario?.models ?? [], Math.floor(now()));
  const checkModel = ({ model }: ModelRequest): void => {
    if (!models.some(({ id }) => id === model)) throw modelNotFound(model);
  };
  return {
    name: "built-in",
    abilities: ABILITIES,
    async sample(request, signal) {
      checkModel(request);
      if (contextWindow !== null && countInputTokens(request) > contextWindow) throw inputTooLong();
      return playSteps(chooseSteps(request, scenario), tokenDelayMs, signal);
    },
    async listModels() {
      return models;
    },
    async countTokens(request) {
      checkModel(request);
      return { tokens: countInputTokens(request), exact: true };
    },
    contextWindow: async () => contextWindow,
  };
}

function chooseSteps(request: ModelRequest, scenario: Scenario | null): readonly Step[] {
  const scene = scenario === null ? null : findScene(scenario, request);
  if (scene?.script.type === "refused") throw scene.script.error;
  if (scene !== null) return playScene(scene.script.lines, request);
  if (scenario?.fallback === "error") throw noScene();
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

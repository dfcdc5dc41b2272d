import { basename } from "node:path";
import { isRecord } from "@antiphon/base/json/records.ts";
import { closingBiases } from "./answer/closing.ts";
import { type ChildOptions, EMBEDDED_MODEL } from "./child-options.ts";
import type { EngineContext, EngineModel } from "./engine-api.ts";
import { GrammarCache } from "./grammar/grammar-cache.ts";
import { isOfVectors, loadModelFile, ModelRefused, servedName } from "./load-model-file.ts";
import type { LoadedModel, SamplingAdvice } from "./loaded-model.ts";
import { ChatTemplate, TemplateUnusable } from "./prompt/chat-template.ts";
import { KNOWN_TEMPLATES } from "./prompt/known-templates.ts";

/** Where memory is short, the window is halved down to this. */
const WINDOW_MIN = 2048;
const BATCH_TOKENS = 512;
const STEP_TOKENS = 256;
/** A step of a model with more bytes takes long, so it reads fewer tokens at once. */
const LARGE_MODEL_BYTES = 1024 ** 3;
const LARGE_MODEL_STEP_TOKENS = 64;

interface Opened {
  readonly runtime: LoadedModel;
  readonly notes: readonly string[];
}

/** Loads a model that answers. Rejects with `ModelRefused`. */
export async function loadModel(options: ChildOptions, onProgress: (share: number) => void): Promise<Opened> {
  const { modelPath } = options;
  const { engine, jinja, llama, model, size } = await loadModelFile(options, onProgress);
  if (isOfVectors(model))
    throw new ModelRefused(
      `${modelPath} is a model for embeddings (${model.architecture}), which cannot answer; MODEL_FILE must be a language model`,
    );
  const { context, sequences } = await openContext(model, options);
  const newGrammarState = (grammar: ConstructorParameters<typeof engine.LlamaGrammarEvaluationState>[0]["grammar"]) =>
    new engine.LlamaGrammarEvaluationState({ model, grammar });
  const template = chooseTemplate(jinja, model, options);
  const runtime: LoadedModel = {
    model,
    context,
    sequences,
    newGrammarState,
    grammars: new GrammarCache(llama, newGrammarState),
    closing: closingBiases(engine, model),
    template,
    window: context.contextSize,
    stepTokens: size > LARGE_MODEL_BYTES ? LARGE_MODEL_STEP_TOKENS : STEP_TOKENS,
    advice: adviceOf(model),
    names: [servedName(modelPath), EMBEDDED_MODEL],
  };
  const windowWish = windowOf(model, options);
  return {
    runtime,
    notes: [
      ...(typeof template === "string" ? [template] : []),
      ...(runtime.window < windowWish
        ? [`Memory is short, so the window is ${runtime.window} tokens in place of ${windowWish}.`]
        : []),
    ],
  };
}

function windowOf({ trainContextSize }: EngineModel, { windowMax }: ChildOptions): number {
  return Math.min(windowMax, trainContextSize);
}

/** Opens the memory of all slots, with half the window as often as it does not fit. */
async function openContext(
  model: EngineModel,
  options: ChildOptions,
): Promise<{ readonly context: EngineContext; readonly sequences: LoadedModel["sequences"] }> {
  const { slots, threads } = options;
  for (let window = windowOf(model, options); ; window = Math.floor(window / 2)) {
    try {
      const context = await model.createContext({
        sequences: slots,
        contextSize: window,
        batchSize: Math.min(BATCH_TOKENS, window),
        threads,
        swaFullCache: true, // Without it, models with a sliding window cannot go on from a common beginning.
      });
      const never = (): never => {
        throw new Error("a full window never moves");
      };
      const sequences = Array.from({ length: slots }, () => context.getSequence({ contextShift: { strategy: never } }));
      return { context, sequences };
    } catch (error) {
      if (window / 2 >= WINDOW_MIN) continue;
      const why = error instanceof Error ? error.message : String(error);
      throw new ModelRefused(`There is too little memory for ${slots} slots of ${window} tokens: ${why}`, {
        cause: error,
      });
    }
  }
}

/** The template of the setting or of the file; a sentence if there is none. */
function chooseTemplate(
  jinja: ConstructorParameters<typeof ChatTemplate>[0],
  model: EngineModel,
  { template, modelPath }: ChildOptions,
): LoadedModel["template"] {
  const { tokenizer } = model.fileInfo.metadata;
  const own = isRecord(tokenizer) ? tokenizer["chat_template"] : undefined;
  const source = template === "auto" ? own : KNOWN_TEMPLATES[template];
  const remedy = "MODEL_TEMPLATE=chatml, gemma, llama3 or plain gives it one.";
  if (typeof source !== "string")
    return `${basename(modelPath)} is a base model: it has no chat template, so it cannot chat. ${remedy}`;
  const tokens = { bosToken: model.tokens.bosString ?? "", eosToken: model.tokens.eosString ?? "" };
  try {
    return new ChatTemplate(jinja, source, tokens);
  } catch (error) {
    if (!(error instanceof TemplateUnusable)) throw error;
    return `The chat template of ${basename(modelPath)} ${error.message}. ${remedy}`;
  }
}

/** The authors' advice: what the file says, or what is known of its family. */
function adviceOf(model: EngineModel): SamplingAdvice {
  const { general } = model.fileInfo.metadata;
  const about = isRecord(general) ? general : {};
  const sampling = isRecord(about["sampling"]) ? about["sampling"] : {};
  const usual = typeof about["name"] === "string" && /smollm/i.test(about["name"]) ? SMOLLM_ADVICE : USUAL_ADVICE;
  const { temp, top_p: topP } = sampling;
  return {
    temperature: typeof temp === "number" ? temp : usual.temperature,
    topP: typeof topP === "number" ? topP : usual.topP,
  };
}

const SMOLLM_ADVICE: SamplingAdvice = { temperature: 0.2, topP: 0.9 };
const USUAL_ADVICE: SamplingAdvice = { temperature: 0.7, topP: 0.95 };

import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { isRecord } from "@antiphon/base/json/records.ts";
import { closingBiases } from "./answer/closing.ts";
import { type ChildOptions, EMBEDDED_MODEL } from "./child-options.ts";
import { type EngineContext, type EngineModel, type Llama, loadEnginePackages } from "./engine-api.ts";
import { GrammarCache } from "./grammar/grammar-cache.ts";
import type { LoadedModel, SamplingAdvice } from "./loaded-model.ts";
import { ChatTemplate, TemplateUnusable } from "./prompt/chat-template.ts";
import { KNOWN_TEMPLATES } from "./prompt/known-templates.ts";

/** The model cannot be used. The message is a sentence without a full stop. */
export class ModelRefused extends Error {
  override readonly name = "ModelRefused";
}

/** Where memory is short, the window is halved down to this. */
const WINDOW_MIN = 2048;
const BATCH_TOKENS = 512;
const STEP_TOKENS = 256;
/** A step of a model with more bytes takes long, so it reads fewer tokens at once. */
const LARGE_MODEL_BYTES = 1024 ** 3;
const LARGE_MODEL_STEP_TOKENS = 64;
const LOG_LINES_KEPT = 6;

/** Architectures of models that turn texts into vectors. */
const OF_EMBEDDINGS = /bert|embed|^t5encoder$/;

interface Opened {
  readonly runtime: LoadedModel;
  readonly notes: readonly string[];
}

/** Rejects with `ModelRefused`. */
export async function loadModel(options: ChildOptions, onProgress: (share: number) => void): Promise<Opened> {
  const { modelPath, engineFolder, threads } = options;
  const { size } = await stat(modelPath);
  const { engine, jinja } = await loadEnginePackages(engineFolder);
  const logLines: string[] = [];
  const llama = await engine.getLlama({
    gpu: false,
    build: "never",
    skipDownload: true,
    progressLogs: false,
    maxThreads: threads,
    logLevel: "warn",
    logger: (_level, message) => {
      logLines.push(message.trim());
      logLines.splice(0, Math.max(0, logLines.length - LOG_LINES_KEPT));
    },
  });
  const model = await openFile(llama, modelPath, onProgress).catch((error: unknown) => {
    throw new ModelRefused(refusalText({ modelPath, size, logLines, error }), { cause: error });
  });
  refuseEmbeddings(model, modelPath);
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

/** Such as `smollm2-135m-instruct` of `SmolLM2-135M-Instruct.Q4_1.gguf`. */
function servedName(path: string): string {
  return basename(path)
    .replace(/\.gguf$/i, "")
    .replace(/[.-](?:I?Q\d\w*|F16|F32|BF16)$/i, "")
    .toLowerCase();
}

function openFile(llama: Llama, modelPath: string, onProgress: (share: number) => void): Promise<EngineModel> {
  return llama.loadModel({ modelPath, gpuLayers: 0, onLoadProgress: onProgress });
}

function refusalText(facts: { modelPath: string; size: number; logLines: readonly string[]; error: unknown }): string {
  const { modelPath, size, logLines, error } = facts;
  const reason = error instanceof Error ? error.message : String(error);
  const words = [...new Set([...logLines, reason])].map((line) => line.replace(/\s+/g, " ")).join("; ");
  return `The model ${modelPath}, of ${size} bytes, cannot be loaded: ${words.replace(/[.;\s]+$/, "")}`;
}

function refuseEmbeddings(model: EngineModel, modelPath: string): void {
  const own = model.fileInfo.metadata[model.architecture];
  const pooling = isRecord(own) ? own["pooling_type"] : undefined;
  const isEmbedding = OF_EMBEDDINGS.test(model.architecture) || (typeof pooling === "number" && pooling > 0);
  if (isEmbedding)
    throw new ModelRefused(
      `${modelPath} is a model for embeddings (${model.architecture}), which cannot answer; MODEL_FILE must be a language model`,
    );
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

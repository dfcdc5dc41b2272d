import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { ChildOptions } from "./child-options.ts";
import { type EngineModel, type EngineModule, type JinjaModule, type Llama, loadEnginePackages } from "./engine-api.ts";

/** The model cannot be used. The message is a sentence without a full stop. */
export class ModelRefused extends Error {
  override readonly name = "ModelRefused";
}

export interface OpenedFile {
  readonly engine: EngineModule;
  readonly jinja: JinjaModule;
  readonly llama: Llama;
  readonly model: EngineModel;
  /** The bytes of the file. */
  readonly size: number;
}

const LOG_LINES_KEPT = 6;
/** Architectures of models that turn texts into vectors. */
const OF_VECTORS = /bert|embed|^t5encoder$/;

/** Loads the engine and the file. Rejects with `ModelRefused`. */
export async function loadModelFile(
  { modelPath, engineFolder, threads }: ChildOptions,
  onProgress: (share: number) => void,
): Promise<OpenedFile> {
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
  try {
    const model = await llama.loadModel({ modelPath, gpuLayers: 0, onLoadProgress: onProgress });
    return { engine, jinja, llama, model, size };
  } catch (error) {
    throw new ModelRefused(refusalText({ modelPath, size, logLines, error }), { cause: error });
  }
}

function refusalText(facts: { modelPath: string; size: number; logLines: readonly string[]; error: unknown }): string {
  const { modelPath, size, logLines, error } = facts;
  const reason = error instanceof Error ? error.message : String(error);
  const words = [...new Set([...logLines, reason])].map((line) => line.replace(/\s+/g, " ")).join("; ");
  return `The model ${modelPath}, of ${size} bytes, cannot be loaded: ${words.replace(/[.;\s]+$/, "")}`;
}

/** Whether a model turns texts into vectors, by its architecture and how it pools. */
export function isOfVectors(model: Pick<EngineModel, "architecture" | "fileInfo">): boolean {
  const own = model.fileInfo.metadata[model.architecture];
  const pooling = isRecord(own) ? own["pooling_type"] : undefined;
  return OF_VECTORS.test(model.architecture) || (typeof pooling === "number" && pooling > 0);
}

/** Such as `smollm2-135m-instruct` of `SmolLM2-135M-Instruct.Q4_1.gguf`. */
export function servedName(path: string): string {
  return basename(path)
    .replace(/\.gguf$/i, "")
    .replace(/[.-](?:I?Q\d\w*|F16|F32|BF16)$/i, "")
    .toLowerCase();
}

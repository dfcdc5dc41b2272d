import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "@antiphon/base/logger.ts";
import type { EngineStatus } from "../../speech-engine.ts";
import { DownloadError } from "./download.ts";
import { readModelShape } from "./model-file.ts";
import {
  expectedSha256,
  type FoundModel,
  findModel,
  type ModelChoice,
  ModelMissing,
  modelName,
} from "./model-store.ts";
import { type PackedModel, unpackModel } from "./packed-model.ts";

/** A small model that comes with the program and replaces the configured model until that is available. */
export interface DemoModel {
  readonly model: PackedModel;
  readonly folder: string;
}

/** The model that the engine loads. */
export interface ModelInUse extends FoundModel {
  readonly name: string;
  /** The expected checksum in hex; null if none is known. */
  readonly sha256: string | null;
  /**
   * For the demo model: why it is used, as a sentence without a full stop, and how many words it knows. Null for the
   * configured model.
   */
  readonly demo: { readonly reason: string; readonly words: number } | null;
}

export interface ModelSearchOptions {
  readonly choice: ModelChoice;
  /** Null if there is no speech without the configured model. */
  readonly demoModel: DemoModel | null;
  readonly log: Logger;
}

/** Downloads are retried, so that a server that starts offline needs no restart. */
const AGAIN_MS = 60_000;

/** Finds the configured model, or the demo model until the configured one is available. */
export class ModelSearch {
  readonly #options: ModelSearchOptions;

  constructor(options: ModelSearchOptions) {
    this.#options = options;
  }

  /**
   * Finds the model to start with. Calls `show` with the progress of the download, and with null once a model is found.
   * Failed downloads are retried; other errors are those of `findModel`.
   */
  async first(show: (status: EngineStatus | null) => void, signal: AbortSignal): Promise<ModelInUse> {
    const { choice, demoModel, log } = this.#options;
    const onProgress = (receivedBytes: number, totalBytes: number | null): void =>
      show({ state: "downloading", receivedBytes, totalBytes });
    for (;;) {
      try {
        const modelInUse = await this.#findNamed(onProgress, signal);
        show(null);
        return modelInUse;
      } catch (error) {
        const mayComeLater = error instanceof DownloadError;
        const isNotAllowed = error instanceof ModelMissing && error.isNotAllowed;
        if (!mayComeLater && !(isNotAllowed && demoModel !== null)) throw error;
        if (mayComeLater) log.warn({ error }, "speech model could not be downloaded; retrying in a minute");
        if (demoModel !== null) {
          const modelInUse = await this.#useDemoModel(demoModel, error.message);
          show(null);
          return modelInUse;
        }
        show({ state: "failed", reason: error.message });
        await sleep(choice.againMs ?? AGAIN_MS, undefined, { signal });
      }
    }
  }

  /**
   * Waits until the configured model is available, by download or because somebody put the file there. Rejects with the
   * signal's reason, or like `findModel`.
   */
  async later(signal: AbortSignal): Promise<ModelInUse> {
    const { choice } = this.#options;
    for (;;) {
      await sleep(choice.againMs ?? AGAIN_MS, undefined, { signal });
      try {
        return await this.#findNamed(() => {}, signal);
      } catch (error) {
        if (!(error instanceof DownloadError || error instanceof ModelMissing)) throw error;
      }
    }
  }

  async #findNamed(
    onProgress: (receivedBytes: number, totalBytes: number | null) => void,
    signal: AbortSignal,
  ): Promise<ModelInUse> {
    const { choice, demoModel } = this.#options;
    if (choice.path === null && choice.name === demoModel?.model.name)
      return { ...(await unpackDemoModel(demoModel)), demo: null };
    const foundModel = await findModel(choice, onProgress, signal);
    return { ...foundModel, name: modelName(choice), sha256: expectedSha256(choice), demo: null };
  }

  async #useDemoModel(demoModel: DemoModel, reason: string): Promise<ModelInUse> {
    const { name, words } = demoModel.model;
    const model = await unpackDemoModel(demoModel);
    this.#options.log.warn(
      { model: name, words, reason },
      "using a demo model until the speech model is available: it only knows digits and commands in a synthetic voice",
    );
    return { ...model, demo: { reason, words } };
  }
}

async function unpackDemoModel({ model, folder }: DemoModel): Promise<Omit<ModelInUse, "demo">> {
  const path = await unpackModel(model, folder);
  return { path, shape: await readModelShape(path), name: model.name, sha256: model.sha256 };
}

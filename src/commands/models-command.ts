import { type Environment, loadConfig } from "../config/load-config.ts";
import { type ModelEntry, type ModelsFile, modelsFileSchema, readModelsFile } from "../config/models-file.ts";
import { MisusedCommand, readCommandArguments } from "./misused-command.ts";
import { localModelsText } from "./pull/local-models-text.ts";

const USAGE = `Usage: antiphon models [NAME] [--json] [--schema]

Prints the model servers and names of MODELS_FILE, and what each name leads to; without MODELS_FILE, the models that antiphon pull fetched. With NAME, prints what this name leads to. Asks no server; antiphon doctor does.
--json prints everything as JSON, without keys and headers. --schema prints the JSON Schema of the file, for editors.`;

interface Output {
  readonly print: (text: string) => void;
}

/** Runs `models …`. Throws a `ConfigError` if the file cannot be used, and `MisusedCommand`. */
export function runModelsCommand(argv: readonly string[], environment: Environment, { print }: Output): void {
  const { values, positionals } = readCommandArguments(
    argv,
    { help: { type: "boolean", short: "h" }, json: { type: "boolean" }, schema: { type: "boolean" } },
    (problem) => new MisusedCommand(problem, USAGE),
  );
  if (values.help === true) return print(USAGE);
  if (values.schema === true) return print(JSON.stringify(modelsFileSchema(), null, 2));
  if (positionals.length > 1) throw new MisusedCommand("models takes one name.", USAGE);
  const config = loadConfig(environment, []);
  const { modelsFile } = config;
  if (modelsFile === null) return print(localModelsText(config, values.json === true));
  const file = readModelsFile(modelsFile, environment);
  const [name] = positionals;
  const shownFile = name === undefined ? file : { ...file, models: [entryFor(file, name)] };
  print(values.json === true ? JSON.stringify(shownAsJson(shownFile), null, 2) : textOf(shownFile));
}

function entryFor(file: ModelsFile, name: string): ModelEntry {
  const entry = file.entryOf(name);
  if (entry === null) throw new MisusedCommand(`'${name}' leads to no model.`, USAGE);
  return entry;
}

/** Without keys and headers, which may be secret. */
function shownAsJson({ servers, models, defaultModel }: ModelsFile): object {
  return {
    servers: servers.map(({ apiKey, headers: _headers, ...server }) => ({ ...server, has_key: apiKey !== null })),
    models,
    default: defaultModel,
  };
}

function textOf({ servers, models, defaultModel }: ModelsFile): string {
  const serverWidth = Math.max(...servers.map(({ name }) => name.length));
  const modelWidth = Math.max(...models.map(({ name }) => name.length));
  return [
    "Servers",
    ...servers.map(({ name, url, dialect, apiKey }) => {
      return `  ${name.padEnd(serverWidth)}  ${url}  ${dialect}${apiKey === null ? "" : ", with a key"}`;
    }),
    "",
    "Models",
    ...models.map((model) => `  ${model.name.padEnd(modelWidth)}  ${routeText(model)}`),
    ...(defaultModel === null ? [] : ["", `Other names lead to ${defaultModel}.`]),
  ].join("\n");
}

function routeText({ route, spread, listed, owners, for: purpose }: ModelEntry): string {
  const steps = route.map(({ server, model, weight }) => {
    return `${server}/${model ?? "*"}${spread && weight !== 1 ? ` (weight ${weight})` : ""}`;
  });
  const facts = [
    ...(purpose === "answers" ? [] : [purpose]),
    ...(listed ? [] : ["hidden"]),
    ...(owners === undefined ? [] : [`for ${owners.join(", ")}`]),
  ];
  return `${steps.join(spread ? " or " : ", then ")}${facts.length === 0 ? "" : `  (${facts.join("; ")})`}`;
}

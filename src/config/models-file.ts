import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { expected, integer, NAME } from "@antiphon/base/yaml/file-values.ts";
import { readCheckedYaml } from "@antiphon/base/yaml/read-checked.ts";
import { z } from "zod";
import { ConfigError } from "./config-error.ts";
import { VARIABLE } from "./environment/file-variables.ts";
import type { Environment } from "./load-config.ts";
import { Secret } from "./secret.ts";

const HOUR_MS = 60 * 60 * 1000;
const INPUT_KINDS = ["image", "image_url", "file", "audio"] as const;

const URL_TEXT = z.custom<string>((value) => /^https?:$/.test(URL.parse(String(value))?.protocol ?? ""), {
  error: expected("an http or https URL"),
});
const AMOUNT = z.number().min(0, { error: "should be 0 or more" });
const FLAG = z.boolean();
const MS = integer(1, HOUR_MS);
const WINDOW = integer(256, 1_000_000_000);
const VARIABLE_NAME = z.custom<string>((value) => /^\w+$/.test(String(value)), {
  error: expected("the name of an environment variable"),
});

const SERVER = z.strictObject({
  url: URL_TEXT.meta({ description: "The address of the API, such as http://127.0.0.1:11434/v1." }),
  dialect: z.enum(["chat-completions", "responses", "messages"]).default("chat-completions").meta({
    description: "The API that the server speaks: chat completions, OpenAI's Responses or Anthropic's Messages.",
  }),
  api_key_env: VARIABLE_NAME.optional().meta({ description: "The environment variable that holds the key." }),
  api_key_file: NAME.optional().meta({ description: "The file that holds the key, beside this one." }),
  headers: z
    .record(z.string(), z.string())
    .default({})
    .meta({ description: "Headers of every call. ${NAME} stands for a variable of the environment." }),
  profile: z.enum(["auto", "openai", "generic"]).default("auto").meta({ description: "As MODEL_PROFILE." }),
  input: z
    .array(z.enum(INPUT_KINDS))
    .optional()
    .meta({ description: "What the models read beside text. By default as the profile says." }),
  window: WINDOW.optional().meta({ description: "The context window of models without one of their own, in tokens." }),
  connections_max: integer(1, 65_535).default(512).meta({ description: "Most connections to the server." }),
  requests_max: integer(1, 65_535).default(512).meta({ description: "Most requests under way. More of them wait." }),
  queue_max: integer(0, 100_000).default(1_000).meta({ description: "Most requests that wait. More go elsewhere." }),
  embedding_inputs_max: integer(1, 2_048).default(128).meta({
    description: "Most inputs of one call for embeddings, and documents of one call for ranks. More are split.",
  }),
  connect_timeout_ms: MS.default(10_000).meta({ description: "How long connecting may take." }),
  first_event_timeout_ms: MS.default(60_000).meta({
    description: "How long the first piece of an answer may take, if another server could answer.",
  }),
  idle_timeout_ms: MS.default(300_000).meta({ description: "How long the server may say nothing." }),
  total_timeout_ms: MS.default(HOUR_MS).meta({ description: "How long a whole answer may take." }),
});

const STEP = z.union([
  z.string().regex(/^[^/\s]+\/\S+$/, { error: "should be a server and its model, such as local/qwen3" }),
  z.strictObject({
    server: NAME.meta({ description: "The name of a server." }),
    model: NAME.optional().meta({ description: "The model's name there. By default the asked name." }),
    weight: AMOUNT.default(1).meta({ description: "The share of requests, if they are spread." }),
  }),
]);
const STEPS = z.union([STEP, z.array(STEP).min(1, { error: "should name a server" })], {
  error: expected("server/model, or a list of them"),
});

const MODEL = z.strictObject({
  route: STEPS.meta({ description: "Who answers: servers with their models, the preferred one first." }),
  spread: FLAG.default(false).meta({
    description: "Spreads requests over the route by weight and load; a conversation stays where its prefix is cached.",
  }),
  for: z.enum(["answers", "embeddings", "ranks"]).default("answers").meta({
    description: "What the model is for, as antiphon models shows it and antiphon doctor examines it.",
  }),
  window: WINDOW.optional().meta({ description: "The context window, in tokens." }),
  instructions: z.string().optional().meta({ description: "Instructions of requests without any." }),
  temperature: AMOUNT.optional(),
  top_p: AMOUNT.optional(),
  max_output_tokens: integer(16).optional(),
  reasoning_effort: NAME.optional(),
  tools: z
    .array(z.record(z.string(), z.unknown()))
    .default([])
    .meta({ description: "Tools that every request is offered, too." }),
  listed: FLAG.default(true).meta({ description: "Whether lists of models name it." }),
  owners: z.array(NAME).optional().meta({ description: "Who may use it: organization, or organization/project." }),
  price: z
    .strictObject({ input: AMOUNT, cached_input: AMOUNT.optional(), output: AMOUNT })
    .optional()
    .meta({ description: "The price of a million tokens, as in PRICES_FILE." }),
});

const FILE = z.strictObject({
  servers: z.record(z.string().regex(/^[\w.-]{1,64}$/, { error: "has a name with other characters" }), SERVER, {
    error: expected("a mapping of names to servers"),
  }),
  models: z.record(NAME, z.union([STEPS, MODEL]), { error: expected("a mapping of names to routes") }),
  currency: z.string().default("USD").meta({ description: "The currency of the prices." }),
  default: NAME.optional().meta({ description: "The model that answers for names that nothing else matches." }),
});

/** The JSON Schema of the file, for editors. */
export function modelsFileSchema(): object {
  return z.toJSONSchema(FILE, { io: "input", unrepresentable: "any" });
}

export type ServerEntry = Readonly<Omit<z.infer<typeof SERVER>, "api_key_env" | "api_key_file">> & {
  readonly name: string;
  readonly apiKey: Secret | null;
  /** Where its key is set, as errors name it. */
  readonly keySetting: string;
};

export interface RouteStep {
  readonly server: string;
  /** Null for the asked name. */
  readonly model: string | null;
  readonly weight: number;
}

/** A model of the file, with a whole route. */
export interface ModelEntry extends Readonly<Omit<z.infer<typeof MODEL>, "route">> {
  /** A name, or a pattern with one `*`. */
  readonly name: string;
  readonly route: readonly RouteStep[];
}

/** What `MODELS_FILE` says. */
export interface ModelsFile {
  readonly servers: readonly ServerEntry[];
  readonly models: readonly ModelEntry[];
  readonly defaultModel: string | null;
  readonly currency: string;
  /** The entry of a model: that of its name, of the pattern with the longest text, or the default one. */
  entryOf(model: string): ModelEntry | null;
}

/** Reads the file. Throws a `ConfigError` that names each mistake with its line. */
export function readModelsFile(file: string, environment: Environment): ModelsFile {
  const text = readText(file);
  const read = readCheckedYaml(text, FILE);
  if ("problems" in read)
    throw new ConfigError(read.problems.map(({ place, complaint }) => `MODELS_FILE ${file} ${place} ${complaint}.`));
  const { servers, models, currency, default: defaultModel = null } = read.value;
  const problems: string[] = [];
  const entries = Object.entries(models).map(([name, entry]) => modelEntry(name, entry));
  for (const { name, route } of entries) {
    if (name.split("*").length > 2) problems.push(`models.${name} has more than one *`);
    for (const { server } of route)
      if (servers[server] === undefined) problems.push(`models.${name} leads to '${server}', which is no server`);
  }
  if (defaultModel !== null && !entries.some(({ name }) => name === defaultModel))
    problems.push(`default is '${defaultModel}', which is no model`);
  const filled = new FilledServers(file, environment, problems);
  const filledServers = Object.entries(servers).map(([name, server]) => filled.fill(name, server));
  if (problems.length > 0) throw new ConfigError(problems.map((problem) => `MODELS_FILE ${file}: ${problem}.`));
  return { servers: filledServers, models: entries, defaultModel, currency, entryOf: finderOf(entries, defaultModel) };
}

function finderOf(entries: readonly ModelEntry[], defaultModel: string | null): ModelsFile["entryOf"] {
  const byName = new Map(entries.map((entry) => [entry.name, entry]));
  const patterns = entries
    .filter(({ name }) => name.includes("*"))
    .toSorted((one, other) => other.name.length - one.name.length);
  return (model) =>
    byName.get(model) ??
    patterns.find(({ name }) => matchesPattern(name, model)) ??
    (defaultModel === null ? null : (byName.get(defaultModel) ?? null));
}

function matchesPattern(pattern: string, name: string): boolean {
  const [before = "", after = ""] = pattern.split("*");
  return name.length >= before.length + after.length && name.startsWith(before) && name.endsWith(after);
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new ConfigError([`MODELS_FILE ${file} cannot be read: ${error instanceof Error ? error.message : ""}.`]);
  }
}

function modelEntry(name: string, entry: z.infer<typeof FILE>["models"][string]): ModelEntry {
  const isWhole = typeof entry === "object" && "route" in entry;
  const { route, ...members } = isWhole ? entry : MODEL.parse({ route: entry });
  const steps = Array.isArray(route) ? route : [route];
  return { ...members, name, route: steps.map(routeStep) };
}

function routeStep(step: z.infer<typeof STEP>): RouteStep {
  if (typeof step !== "string") return { server: step.server, model: step.model ?? null, weight: step.weight };
  const slash = step.indexOf("/");
  return { server: step.slice(0, slash), model: step.slice(slash + 1), weight: 1 };
}

/** Fills in what stands in the environment and in files. Problems name the place and never a value. */
class FilledServers {
  readonly #file: string;
  readonly #environment: Environment;
  readonly #problems: string[];

  constructor(file: string, environment: Environment, problems: string[]) {
    this.#file = file;
    this.#environment = environment;
    this.#problems = problems;
  }

  fill(name: string, { api_key_env, api_key_file, headers, ...server }: z.infer<typeof SERVER>): ServerEntry {
    const place = `servers.${name}`;
    if (api_key_env !== undefined && api_key_file !== undefined)
      this.#problems.push(`${place} has both api_key_env and api_key_file`);
    const key =
      api_key_env === undefined
        ? this.#keyInFile(place, api_key_file ?? null)
        : this.#variable(`${place}.api_key_env`, api_key_env);
    const filledHeaders = Object.entries(headers).map(([header, text]) => [
      header,
      text.replaceAll(VARIABLE, (_whole, variable: string) => this.#variable(`${place}.headers.${header}`, variable)),
    ]);
    return {
      ...server,
      name,
      headers: Object.fromEntries(filledHeaders),
      apiKey: key === null ? null : new Secret(key),
      keySetting: `${place}.${api_key_file === undefined ? "api_key_env" : "api_key_file"} in MODELS_FILE`,
    };
  }

  #keyInFile(place: string, keyFile: string | null): string | null {
    if (keyFile === null) return null;
    try {
      return readFileSync(resolve(dirname(this.#file), keyFile), "utf8").trim();
    } catch {
      this.#problems.push(`${place}.api_key_file cannot be read`);
      return null;
    }
  }

  #variable(place: string, name: string): string {
    const value = this.#environment[name];
    if (value === undefined || value === "")
      this.#problems.push(`${place} uses the variable ${name}, which is not set`);
    return value ?? "";
  }
}

import { readFileSync, unwatchFile, watchFile } from "node:fs";
import type { Logger } from "@antiphon/base/logger.ts";
import { validateCreateResponseRequest } from "@antiphon/contracts/responses-api/validators.js";
import type { ModelAbilities, ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import type { ModelPolicy } from "@antiphon/domain/models/model-policy.ts";
import { ConfigError } from "../../config/config-error.ts";
import type { Environment } from "../../config/load-config.ts";
import { type ModelEntry, type ModelsFile, readModelsFile, type ServerEntry } from "../../config/models-file.ts";
import type { ModelPrice } from "../../config/prices-file.ts";
import { createChatCompletionsEngine } from "../../model-engines/chat-completions/engine.ts";
import { PROFILES } from "../../model-engines/chat-completions/profile.ts";
import { createMessagesEngine } from "../../model-engines/messages/engine.ts";
import { createResponsesEngine } from "../../model-engines/responses/engine.ts";
import { isPattern, type RoutedServer, RouteTable } from "../../model-engines/routing/route-table.ts";
import { ServerHealth } from "../../model-engines/routing/server-health.ts";
import type { ModelServerObserver } from "../../telemetry/model-server-metrics.ts";

/** How often the file is looked at, in milliseconds. */
const LOOK_MS = 2_000;
/** How often servers with an open breaker are asked for their models, in milliseconds. */
const PROBE_MS = 10_000;

/** The model servers and names of `MODELS_FILE`. They change with the file. */
export class ModelServers {
  readonly #file: string;
  readonly #environment: Environment;
  readonly #log: Logger;
  #known: { readonly entry: string; readonly server: RoutedServer }[] = [];
  #read: ModelsFile;
  /** The text that was read last, also one that cannot be used. */
  #text: string;
  table: RouteTable;

  /** Throws `ConfigError` if the file cannot be used. */
  constructor(file: string, environment: Environment, log: Logger) {
    this.#file = file;
    this.#environment = environment;
    this.#log = log;
    this.#text = this.#readText();
    this.#read = checkedFile(file, environment);
    this.table = this.#tableOf(this.#read);
  }

  policyOf(model: string): ModelPolicy | null {
    const entry = this.#read.entryOf(model);
    return entry === null ? null : { owners: entry.owners ?? null, defaults: defaultsOf(entry) };
  }

  get entries(): readonly Pick<ServerEntry, "name" | "url">[] {
    return this.#read.servers;
  }

  /** The models that lead to a server by name, by what they are for. */
  modelsAt(server: string): readonly { readonly model: string; readonly what: ModelEntry["for"] }[] {
    return this.#read.models.flatMap(({ route, for: what }) =>
      route.flatMap(({ server: name, model }) =>
        name === server && model !== null && !isPattern(model) ? [{ model, what }] : [],
      ),
    );
  }

  /** The price that the file gives a model; null if it gives none. */
  priceOf(model: string): (ModelPrice & { readonly currency: string }) | null {
    const price = this.#read.entryOf(model)?.price;
    if (price === undefined) return null;
    const { input, cached_input: cachedInput = input, output } = price;
    return { input, cachedInput, output, currency: this.#read.currency };
  }

  /** Reads the file again. A file that cannot be used changes nothing, and the log says why. */
  reload(): void {
    this.#text = this.#readText();
    try {
      const read = checkedFile(this.#file, this.#environment);
      this.table = this.#tableOf(read);
      this.#read = read;
      this.#log.info({ servers: read.servers.length, models: read.models.length }, "read MODELS_FILE again");
    } catch (error) {
      this.#log.error({ err: error }, "MODELS_FILE cannot be used; the one that was read before stays in use");
    }
  }

  /**
   * Lets the servers be measured, reads the file again when it changes and on `SIGHUP`, and asks servers that failed.
   * Stops when `signal` aborts.
   */
  follow(observer: Pick<ModelServerObserver, "watch">, signal: AbortSignal): void {
    observer.watch(() => this.table.servers);
    const look = (): void => {
      const text = this.#readText();
      if (text !== "" && text !== this.#text) this.reload();
    };
    watchFile(this.#file, { interval: LOOK_MS, persistent: false }, look);
    const onHangUp = (): void => this.reload();
    process.on("SIGHUP", onHangUp);
    const probing = setInterval(() => this.#probe(signal), PROBE_MS).unref();
    const stop = (): void => {
      unwatchFile(this.#file, look);
      process.off("SIGHUP", onHangUp);
      clearInterval(probing);
    };
    signal.addEventListener("abort", stop, { once: true });
  }

  /** Empty while the file is being replaced. */
  #readText(): string {
    try {
      return readFileSync(this.#file, "utf8");
    } catch {
      return "";
    }
  }

  #probe(signal: AbortSignal): void {
    for (const { name, engine, health } of this.table.servers) {
      if (health.state === "closed") continue;
      engine.listModels(signal).then(
        () => {
          this.#log.info({ modelServer: name }, "a model server answers again");
          health.succeeded();
        },
        () => {}, // It is asked again.
      );
    }
  }

  /** Servers that have not changed keep their connections and what is known of them. */
  #tableOf({ servers, models, defaultModel }: ModelsFile): RouteTable {
    this.#known = servers.map((entry) => {
      const text = JSON.stringify([entry, entry.apiKey?.reveal() ?? null]);
      return this.#known.find(({ entry: earlier }) => earlier === text) ?? { entry: text, server: this.#server(entry) };
    });
    const byName = new Map(this.#known.map(({ server }) => [server.name, server]));
    const entries = models.map(({ name, route, spread, window, listed, owners }) => ({
      name,
      spread,
      listed,
      window: window ?? null,
      owners: owners ?? null,
      steps: route.flatMap(({ server, model, weight }) => {
        const routed = byName.get(server);
        return routed === undefined ? [] : [{ server: routed, model, weight }];
      }),
    }));
    return new RouteTable([...byName.values()], entries, defaultModel);
  }

  #server(entry: ServerEntry): RoutedServer {
    const limits = { requestsMax: entry.requests_max, queueMax: entry.queue_max };
    return {
      name: entry.name,
      engine: engineOf(entry, this.#log),
      kind: entry.dialect,
      health: new ServerHealth(limits),
      firstEventMs: entry.first_event_timeout_ms,
    };
  }
}

/** The file, whose defaults are checked as requests are. */
function checkedFile(file: string, environment: Environment): ModelsFile {
  const read = readModelsFile(file, environment);
  const problems = read.models.flatMap(({ name, ...entry }) => {
    const request = { model: "m", input: "", ...defaultsOf({ name, ...entry }) };
    if (validateCreateResponseRequest(request)) return [];
    const [fault] = validateCreateResponseRequest.errors ?? [];
    return [
      `MODELS_FILE ${file}: models.${name}${(fault?.instancePath ?? "").replaceAll("/", ".")} ${fault?.message}.`,
    ];
  });
  if (problems.length > 0) throw new ConfigError(problems);
  return read;
}

function engineOf(entry: ServerEntry, log: Logger): ModelEngine {
  const modelServer = entry.name;
  const abilities = entry.input === undefined ? {} : { abilities: abilitiesIn(entry.input) };
  const options = {
    baseUrl: entry.url,
    apiKey: entry.apiKey?.reveal() ?? null,
    keySetting: entry.keySetting,
    name: modelServer,
    headers: entry.headers,
    timeouts: {
      connectMs: entry.connect_timeout_ms,
      idleMs: entry.idle_timeout_ms,
      totalMs: entry.total_timeout_ms,
    },
    connectionsMax: entry.connections_max,
    embeddingInputsMax: entry.embedding_inputs_max,
    contextWindow: entry.window ?? null,
    onWarning: (warning: string, model: string) => log.warn({ modelServer, model }, warning),
    onPathFound: (path: string) =>
      log.warn({ modelServer, path }, `the address of a model server lacks a path; using ${path}`),
  };
  if (entry.dialect === "responses") return createResponsesEngine({ ...options, ...abilities });
  if (entry.dialect === "messages") return createMessagesEngine({ ...options, ...abilities });
  const profile = { ...(entry.profile === "auto" ? {} : PROFILES[entry.profile]), ...abilities };
  return createChatCompletionsEngine({ ...options, profile });
}

function abilitiesIn(input: readonly string[]): ModelAbilities {
  return {
    images: input.includes("image") || input.includes("image_url"),
    imageUrls: input.includes("image_url"),
    files: input.includes("file"),
    audioFormats: input.includes("audio") ? ["mp3", "wav"] : [],
  };
}

/** Compared with the schema of requests when the file is read. */
function defaultsOf(entry: ModelEntry): Readonly<Record<string, unknown>> | null {
  const { instructions, temperature, top_p, max_output_tokens, reasoning_effort: effort, tools } = entry;
  const defaults = {
    ...(instructions === undefined ? {} : { instructions }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(top_p === undefined ? {} : { top_p }),
    ...(max_output_tokens === undefined ? {} : { max_output_tokens }),
    ...(effort === undefined ? {} : { reasoning: { effort } }),
    ...(tools.length === 0 ? {} : { tools }),
  };
  return Object.keys(defaults).length === 0 ? null : defaults;
}

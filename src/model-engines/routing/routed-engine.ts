import { createHash } from "node:crypto";
import type {
  AnsweringServer,
  ModelAbilities,
  ModelDescription,
  ModelEngine,
} from "@antiphon/domain/models/model-engine.ts";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { withNearModel } from "@antiphon/domain/models/near-model.ts";
import { Affinities, chooseCandidate } from "./choose-candidate.ts";
import { LateFirstEvent } from "./late-first-event.ts";
import {
  type Candidate,
  isPattern,
  matchOf,
  type Route,
  type RoutedServer,
  type RouteEntry,
  type RouteTable,
} from "./route-table.ts";
import { RoutedTurn } from "./routed-turn.ts";

/** After this time no further candidate is asked, in milliseconds. */
const ATTEMPTS_MS_MAX = 2 * 60_000;

/** Hears what becomes of attempts. */
export interface RouteObserver {
  /** `reason` is the status of a failed attempt; null for one that was answered. */
  attempted(server: string, reason: number | null): void;
  /** The next candidate is asked. The message has no quotes of the server. */
  fellBack(model: string, from: string, to: string, message: string): void;
}

export interface RoutedEngineOptions {
  /** Read anew for each request, so that it can be replaced. */
  readonly table: () => RouteTable;
  readonly observer: RouteObserver;
}

/** Answers each model's turns by the servers of its route. Before an answer has begun, the next server is asked. */
export function createRoutedEngine({ table, observer }: RoutedEngineOptions): ModelEngine {
  const affinities = new Affinities();
  const preferred = (model: string): Candidate => {
    const route = table().find(model);
    if (route === null) throw modelNotFound(model);
    return chooseCandidate(route, route.candidates, null) ?? route.candidates[0];
  };
  const listModels = (signal: AbortSignal): Promise<readonly ModelDescription[]> => listRoutes(table(), signal);
  return {
    name: "model servers",
    abilitiesOf: (model) => table().find(model)?.abilities ?? ALL_ABILITIES,
    sample: async (request, signal, beginning, onAnsweredBy) => {
      const route = table().find(request.model);
      if (route === null)
        throw await withNearModel(modelNotFound(request.model), request.model, () => listModels(signal));
      const attempts = new Attempts(route, { request, signal, beginning, onAnsweredBy, observer, affinities });
      return await attempts.sample();
    },
    continuesAnswers: async (model, signal) => {
      const candidates = table().find(model)?.candidates ?? [];
      const answers = await Promise.all(
        candidates.map(({ server, model: there }) => server.engine.continuesAnswers(there, signal)),
      );
      return answers.length > 0 && answers.every(Boolean);
    },
    listModels,
    countTokens: async (request, signal) => {
      const { server, model } = preferred(request.model);
      return await server.engine.countTokens({ ...request, model }, signal);
    },
    estimateTokens: async (request, signal) => {
      const { server, model } = preferred(request.model);
      return await server.engine.estimateTokens({ ...request, model }, signal);
    },
    reasoningDefaults: (model) => {
      const first = table().find(model)?.candidates[0];
      return first?.server.engine.reasoningDefaults(first.model) ?? null;
    },
    notesOn: (request) => {
      const first = table().find(request.model)?.candidates[0];
      return first?.server.engine.notesOn({ ...request, model: first.model }) ?? [];
    },
    contextWindow: async (model, signal) => {
      const route = table().find(model);
      if (route === null || route.window !== null) return route?.window ?? null;
      const asked = route.candidates.map(({ server, model: there }) => server.engine.contextWindow(there, signal));
      const known = (await Promise.all(asked)).filter((window) => window !== null);
      return known.length === 0 ? null : Math.min(...known);
    },
  };
}

function modelNotFound(model: string): ModelError {
  return new ModelError(`The requested model '${model}' does not exist.`, {
    status: 400,
    type: "invalid_request_error",
    code: "model_not_found",
    param: "model",
  });
}

/** A model that is unknown is refused by `sample`. */
const ALL_ABILITIES: ModelAbilities = { images: true, imageUrls: true, files: true, audioFormats: [] };

/** The listed names. A pattern stands for the models of its servers that it matches; a server that is away has none. */
async function listRoutes(table: RouteTable, signal: AbortSignal): Promise<readonly ModelDescription[]> {
  const listed = table.entries.filter(({ listed: isListed }) => isListed);
  const descriptions = await Promise.all(
    listed.map(async (entry) => (isPattern(entry.name) ? await listPattern(entry, signal) : [described(entry)])),
  );
  return [...new Map(descriptions.flat().map((model) => [model.id, model] as const)).values()];
}

function described({ name, steps, owners }: RouteEntry): ModelDescription {
  const servers = new Set(steps.map(({ server }) => server.name));
  return { id: name, created: 0, ownedBy: [...servers].join(", "), owners };
}

async function listPattern(entry: RouteEntry, signal: AbortSignal): Promise<readonly ModelDescription[]> {
  const lists = entry.steps.map(async ({ server, model }): Promise<readonly ModelDescription[]> => {
    if (model !== null && !isPattern(model)) return []; // All of its names are one model.
    const models = await server.engine.listModels(signal).catch(() => []);
    return models.flatMap((there) => {
      const matched = matchOf(model ?? entry.name, there.id);
      const id = matched === null ? null : entry.name.replace("*", matched);
      return id === null ? [] : [{ ...there, id, owners: entry.owners }];
    });
  });
  return (await Promise.all(lists)).flat();
}

interface Asking {
  readonly request: ModelRequest;
  readonly signal: AbortSignal;
  readonly beginning: string | undefined;
  readonly onAnsweredBy: ((server: AnsweringServer) => void) | undefined;
  readonly observer: RouteObserver;
  readonly affinities: Affinities;
}

/** The attempts to have one turn answered. Each candidate is asked once at most. */
class Attempts {
  readonly #route: Route;
  readonly #asking: Asking;
  readonly #untried: Set<Candidate>;
  readonly #startedAt = performance.now();
  readonly #conversation: string | null;

  constructor(route: Route, asking: Asking) {
    this.#route = route;
    this.#asking = asking;
    this.#untried = new Set(route.candidates);
    this.#conversation = route.spread ? conversationOf(asking.request) : null;
  }

  async sample(): Promise<RoutedTurn> {
    let failed: { readonly candidate: Candidate; readonly error: unknown } | null = null;
    for (;;) {
      const candidate = this.#next();
      if (candidate === null) throw failed?.error ?? this.#refusal();
      if (failed !== null) this.#tellFallback(failed.candidate, candidate, failed.error);
      this.#untried.delete(candidate);
      try {
        return await this.#ask(candidate);
      } catch (error) {
        if (this.#asking.signal.aborted || !mayAskAnother(error)) throw error;
        failed = { candidate, error };
      }
    }
  }

  #next(): Candidate | null {
    if (performance.now() - this.#startedAt > ATTEMPTS_MS_MAX) return null;
    const cachedAt = this.#conversation === null ? null : this.#asking.affinities.serverOf(this.#conversation);
    return chooseCandidate(this.#route, [...this.#untried], cachedAt);
  }

  /** Every server asked for a pause, or has too many requests. */
  #refusal(): ModelError {
    const pauses = this.#route.candidates.map(({ server: { health } }) => health.pauseMs);
    const isPause = pauses.every((pauseMs) => pauseMs > 0);
    return new ModelError(
      isPause ? "All model servers of this model asked for a pause." : "All model servers of this model are busy.",
      {
        status: isPause ? 429 : 503,
        type: isPause ? "rate_limit_error" : "server_error",
        code: isPause ? "rate_limit_exceeded" : "server_error",
        retryAfterSeconds: Math.max(1, Math.ceil(Math.min(...pauses) / 1_000)),
        retry: "often",
      },
    );
  }

  #tellFallback({ server: from }: Candidate, { server: to }: Candidate, error: unknown): void {
    const message = error instanceof ModelError ? withoutQuote(error) : String(error);
    this.#asking.observer.fellBack(this.#asking.request.model, from.name, to.name, message);
  }

  /** Resolves once the answer has begun, if another candidate could answer, else once the server has accepted. */
  async #ask({ server, model }: Candidate): Promise<RoutedTurn> {
    const { request, signal, beginning } = this.#asking;
    const { health } = server;
    const isLast = this.#untried.size === 0;
    await health.enter(request.payer ?? "", signal);
    const late = new LateFirstEvent(isLast ? null : server.firstEventMs, signal);
    let turn: RoutedTurn | null = null;
    try {
      const sent = model === request.model ? request : { ...request, model };
      const answer = await server.engine.sample(sent, late.signal, beginning);
      turn = this.#routed(answer, { server, model }, late);
      if (!isLast) await turn.begin();
      late.throwIfLate(); // An aborted turn ends without an error.
    } catch (error) {
      const fault = late.error ?? error;
      if (turn === null) leave(server, late);
      else await turn.return();
      if (turn === null || late.error !== null) this.#noteFailure(fault, server);
      throw fault;
    } finally {
      late.stopTimer();
    }
    this.#asking.onAnsweredBy?.({ server: server.name, model });
    if (this.#conversation !== null) this.#asking.affinities.remember(this.#conversation, server.name);
    return turn;
  }

  #routed(
    answer: AsyncIterable<readonly ModelEvent[]>,
    { server, model }: Pick<Candidate, "server" | "model">,
    late: LateFirstEvent,
  ): RoutedTurn {
    const { request, observer } = this.#asking;
    return new RoutedTurn(answer, model === request.model ? null : request.model, {
      onFirst: () => {
        server.health.succeeded();
        observer.attempted(server.name, null);
      },
      onFailed: (error) => this.#noteFailure(error, server),
      onOver: () => leave(server, late),
    });
  }

  #noteFailure(error: unknown, { name, health }: RoutedServer): void {
    if (this.#asking.signal.aborted || !(error instanceof ModelError)) return health.undecided();
    this.#asking.observer.attempted(name, error.status);
    if (error.retryAfterSeconds !== null) health.pause(error.retryAfterSeconds * 1_000);
    else if (error.status === 429) health.pause(LIMITED_MS);
    if (error.status >= 500 || error.status === 408) health.failed();
    else if (error.retry !== "never") health.undecided();
    else health.succeeded(); // The server works, and refused the request.
  }
}

function leave({ health }: RoutedServer, late: LateFirstEvent): void {
  late.stopFollowing();
  health.leave();
}

/** The pause after a refusal for too many requests that names none. */
const LIMITED_MS = 1_000;

/**
 * Whether another server may answer, because the request is not at fault. A model that is missing there is the
 * operator's fault.
 */
function mayAskAnother(error: unknown): boolean {
  if (!(error instanceof ModelError)) return false;
  if (error.retry !== "never" || error.status >= 500) return true;
  return [404, 408, 429].includes(error.status) || error.code === "model_not_found";
}

function withoutQuote({ message, quoted }: ModelError): string {
  return quoted === null ? message : message.replace(quoted, "…");
}

/** The start of the prompt, which is the same in all turns of a conversation. */
function conversationOf({ promptCacheKey, instructions, items }: ModelRequest): string {
  const start = promptCacheKey ?? JSON.stringify([instructions, items[0] ?? null]).slice(0, START_CHARACTERS_MAX);
  return createHash("sha256").update(start).digest("base64url");
}

const START_CHARACTERS_MAX = 4_096;

import { createHash } from "node:crypto";
import type {
  AnsweringServer,
  ModelAbilities,
  ModelDescription,
  ModelEngine,
} from "@antiphon/domain/models/model-engine.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { withNearModel } from "@antiphon/domain/models/near-model.ts";
import { modelNotFound } from "../model-server/errors/model-errors.ts";
import { askInTurn, leaveServer, noteAttempt, type RouteObserver } from "./ask-in-turn.ts";
import { Affinities, chooseCandidate } from "./choose-candidate.ts";
import { LateFirstEvent } from "./late-first-event.ts";
import { type Candidate, isPattern, matchOf, type Route, type RouteEntry, type RouteTable } from "./route-table.ts";
import { createRoutedRetrieval } from "./routed-retrieval.ts";
import { RoutedTurn } from "./routed-turn.ts";

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
    ...createRoutedRetrieval(table, observer, listModels),
  };
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
  readonly #conversation: string | null;

  constructor(route: Route, asking: Asking) {
    this.#route = route;
    this.#asking = asking;
    this.#conversation = route.spread ? conversationOf(asking.request) : null;
  }

  sample(): Promise<RoutedTurn> {
    const { request, signal, observer, affinities } = this.#asking;
    const conversation = this.#conversation;
    const cachedAt = (): string | null => (conversation === null ? null : affinities.serverOf(conversation));
    const asking = { route: this.#route, model: request.model, signal, observer, cachedAt };
    return askInTurn(asking, (candidate, isLast) => this.#ask(candidate, isLast));
  }

  /** Resolves once the answer has begun, if another candidate could answer, else once the server has accepted. */
  async #ask({ server, model }: Candidate, isLast: boolean): Promise<RoutedTurn> {
    const { request, signal, beginning } = this.#asking;
    const { health } = server;
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
      if (turn === null) leaveServer(server, late);
      else await turn.return();
      if (turn === null || late.error !== null) noteAttempt(this.#asking, server, fault);
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
    const { request } = this.#asking;
    return new RoutedTurn(answer, model === request.model ? null : request.model, {
      onFirst: () => noteAttempt(this.#asking, server, null),
      onFailed: (error) => noteAttempt(this.#asking, server, error),
      onOver: () => leaveServer(server, late),
    });
  }
}

/** The start of the prompt, which is the same in all turns of a conversation. */
function conversationOf({ promptCacheKey, instructions, items }: ModelRequest): string {
  const start = promptCacheKey ?? JSON.stringify([instructions, items[0] ?? null]).slice(0, START_CHARACTERS_MAX);
  return createHash("sha256").update(start).digest("base64url");
}

const START_CHARACTERS_MAX = 4_096;

import type { ModelDescription, ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import { withNearModel } from "@antiphon/domain/models/near-model.ts";
import type { EmbeddingsRequest, RanksRequest } from "@antiphon/domain/models/retrieval.ts";
import { modelNotFound } from "../model-server/errors/model-errors.ts";
import { type AskedRoute, askInTurn, leaveServer, noteAttempt, type RouteObserver } from "./ask-in-turn.ts";
import { LateFirstEvent } from "./late-first-event.ts";
import type { Candidate, RouteTable } from "./route-table.ts";

type Retrieval = Pick<ModelEngine, "embed" | "rerank">;
type OnAnsweredBy = Parameters<ModelEngine["embed"]>[2];

/** Embeds and ranks by the servers of a model's route. The whole request goes to the next server if one fails. */
export function createRoutedRetrieval(
  table: () => RouteTable,
  observer: RouteObserver,
  listModels: (signal: AbortSignal) => Promise<readonly ModelDescription[]>,
): Retrieval {
  const routeOf = async (model: string, signal: AbortSignal): Promise<AskedRoute> => {
    const route = table().find(model);
    if (route === null) throw await withNearModel(modelNotFound(model), model, () => listModels(signal));
    return { route, model, signal, observer, cachedAt: () => null };
  };
  const askRoute = async <Request extends EmbeddingsRequest | RanksRequest, Answer>(
    { request, signal, onAnsweredBy }: RetrievalAsked<Request>,
    ask: (engine: Retrieval, sent: Request, until: AbortSignal) => Promise<Answer>,
  ): Promise<Answer> => {
    const asked = await routeOf(request.model, signal);
    return await askInTurn(asked, async (candidate, isLast) => {
      const attempt = new Attempt(asked, candidate, isLast);
      return await attempt.make(request, (sent, until) => ask(candidate.server.engine, sent, until), onAnsweredBy);
    });
  };
  return {
    embed: (request, signal, onAnsweredBy) =>
      askRoute({ request, signal, onAnsweredBy }, (engine, sent, until) => engine.embed(sent, until)),
    rerank: (request, signal, onAnsweredBy) =>
      askRoute({ request, signal, onAnsweredBy }, (engine, sent, until) => engine.rerank(sent, until)),
  };
}

interface RetrievalAsked<Request> {
  readonly request: Request;
  readonly signal: AbortSignal;
  readonly onAnsweredBy: OnAnsweredBy;
}

/** One request at one candidate. */
class Attempt {
  readonly #asked: AskedRoute;
  readonly #candidate: Candidate;
  readonly #isLast: boolean;

  constructor(asked: AskedRoute, candidate: Candidate, isLast: boolean) {
    this.#asked = asked;
    this.#candidate = candidate;
    this.#isLast = isLast;
  }

  async make<Request extends EmbeddingsRequest | RanksRequest, Answer>(
    request: Request,
    ask: (request: Request, signal: AbortSignal) => Promise<Answer>,
    onAnsweredBy: OnAnsweredBy,
  ): Promise<Answer> {
    const { server, model } = this.#candidate;
    const { signal } = this.#asked;
    await server.health.enter(request.payer, signal);
    const late = new LateFirstEvent(this.#isLast ? null : server.firstEventMs, signal);
    try {
      const answer = await ask({ ...request, model, onFirst: () => late.stopTimer() }, late.signal);
      noteAttempt(this.#asked, server, null);
      onAnsweredBy?.({ server: server.name, model });
      return answer;
    } catch (error) {
      const fault = late.error ?? error;
      noteAttempt(this.#asked, server, fault);
      throw fault;
    } finally {
      late.stopTimer();
      leaveServer(server, late);
    }
  }
}

import { ModelError } from "@antiphon/domain/models/model-error.ts";
import { chooseCandidate } from "./choose-candidate.ts";
import type { LateFirstEvent } from "./late-first-event.ts";
import type { Candidate, Route, RoutedServer } from "./route-table.ts";

/** After this time no further candidate is asked, in milliseconds. */
const ATTEMPTS_MS_MAX = 2 * 60_000;
/** The pause after a refusal for too many requests that names none. */
const LIMITED_MS = 1_000;

/** Hears what becomes of attempts. */
export interface RouteObserver {
  /** `reason` is the status of a failed attempt; null for one that was answered. */
  attempted(server: string, reason: number | null): void;
  /** The next candidate is asked. The message has no quotes of the server. */
  fellBack(model: string, from: string, to: string, message: string): void;
}

/** A request that any candidate of a route may answer. */
export interface AskedRoute {
  readonly route: Route;
  /** As the request names it. */
  readonly model: string;
  readonly signal: AbortSignal;
  readonly observer: RouteObserver;
  /** The server with the cached prefix of the conversation; null if there is none. */
  readonly cachedAt: () => string | null;
}

/** Asks the candidates, each once at most, until one answers. `isLast`: nobody else could answer. */
export async function askInTurn<Answer>(
  { route, model, signal, observer, cachedAt }: AskedRoute,
  ask: (candidate: Candidate, isLast: boolean) => Promise<Answer>,
): Promise<Answer> {
  const untried = new Set(route.candidates);
  const startedAt = performance.now();
  let failed: { readonly from: Candidate; readonly error: unknown } | null = null;
  for (;;) {
    const isOver = performance.now() - startedAt > ATTEMPTS_MS_MAX;
    const candidate = isOver ? null : chooseCandidate(route, [...untried], cachedAt());
    if (candidate === null) throw failed?.error ?? busyRefusal(route);
    if (failed !== null)
      observer.fellBack(model, failed.from.server.name, candidate.server.name, faultText(failed.error));
    untried.delete(candidate);
    try {
      return await ask(candidate, untried.size === 0);
    } catch (error) {
      if (signal.aborted || !mayAskAnother(error)) throw error;
      failed = { from: candidate, error };
    }
  }
}

/** Tells the server's health and the observer what became of an attempt. `fault` is null if it was answered. */
export function noteAttempt(
  { signal, observer }: Pick<AskedRoute, "signal" | "observer">,
  { name, health }: RoutedServer,
  fault: unknown,
): void {
  if (fault === null) {
    health.succeeded();
    observer.attempted(name, null);
    return;
  }
  if (signal.aborted || !(fault instanceof ModelError)) return health.undecided();
  observer.attempted(name, fault.status);
  if (fault.retryAfterSeconds !== null) health.pause(fault.retryAfterSeconds * 1_000);
  else if (fault.status === 429) health.pause(LIMITED_MS);
  if (fault.status >= 500 || fault.status === 408) health.failed();
  else if (fault.retry !== "never") health.undecided();
  else health.succeeded(); // The server works, and refused the request.
}

/** Gives back the place of a request at its server. */
export function leaveServer({ health }: RoutedServer, late: LateFirstEvent): void {
  late.stopFollowing();
  health.leave();
}

/** Every server asked for a pause, or has too many requests. */
function busyRefusal({ candidates }: Route): ModelError {
  const pauses = candidates.map(({ server: { health } }) => health.pauseMs);
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

/**
 * Whether another server may answer, because the request is not at fault. A model that is missing there, or cannot do
 * what is asked, is the operator's fault.
 */
function mayAskAnother(error: unknown): boolean {
  if (!(error instanceof ModelError)) return false;
  if (error.retry !== "never" || error.status >= 500) return true;
  return [404, 408, 429].includes(error.status) || error.param === "model";
}

/** Without quotes of the server, for logs. */
function faultText(error: unknown): string {
  if (!(error instanceof ModelError)) return String(error);
  return error.quoted === null ? error.message : error.message.replace(error.quoted, "…");
}

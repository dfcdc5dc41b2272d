import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { CodeAbilities, CodeFinder, CodeOffer } from "@antiphon/domain/containers.ts";
import type { PartHealth, PartState } from "@antiphon/domain/part-health.ts";
import type { Caller } from "../access/caller.ts";

export interface Readiness {
  /** Must not throw. */
  readonly isStoreReady: () => Promise<boolean>;
  /** Whether the store has room for more data. Must not throw. */
  readonly hasRoom: () => Promise<boolean>;
  /** Whether the server was told to stop. */
  readonly isLeaving: () => boolean;
  readonly model: Pick<PartHealth, "look">;
  /** The state of a language model of this server itself; null without one. */
  readonly ownModel: (() => PartState) | null;
  /** The states of what other machines do for this server, by their names. None of them decides. */
  readonly elsewhere: () => Readonly<Record<string, PartState>>;
  readonly code: Pick<CodeFinder, "offer">;
}

/**
 * `GET /readyz`: ready if the store responds, the disk has room and the server is not shutting down. The model server's
 * state is shown but does not decide: it fails for all servers at once, and with none ready, no client could get even
 * an error reply. A language model of this server itself decides: other servers may have loaded theirs. The broker and
 * the file storage do not decide either, because most requests work without them.
 */
export function getReadiness(readiness: Readiness): ResponsesApiHandlers<Caller>["getReadiness"] {
  return async () => {
    const [isStoreReady, hasRoom] = await Promise.all([readiness.isStoreReady(), readiness.hasRoom()]);
    const store = stateOf(isStoreReady);
    const disk = stateOf(hasRoom);
    const server = stateOf(!readiness.isLeaving());
    const ownModel = readiness.ownModel?.() ?? "ok";
    const isReady = [store, disk, server, ownModel].every((state) => state === "ok");
    const model = readiness.ownModel === null ? readiness.model.look() : ownModel;
    return {
      status: isReady ? 200 : 503,
      body: {
        status: stateOf(isReady),
        checks: { store, disk, server, model, ...readiness.elsewhere() },
        details: { code: engineOf(readiness.code.offer) },
      },
    };
  };
}

function engineOf(offer: CodeOffer | null): "unknown" | "none" | CodeAbilities["engine"] {
  return offer === null ? "unknown" : (offer.sessions?.abilities.engine ?? "none");
}

function stateOf(isGood: boolean): "ok" | "unavailable" {
  return isGood ? "ok" : "unavailable";
}

import type { ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import type { CodeAbilities, CodeOffer } from "../../domain/containers.ts";
import type { Caller } from "../access/caller.ts";
import type { ResponseServices } from "../services.ts";

/**
 * `GET /readyz`: ready if the store responds, the disk has room and the server is not shutting down. The model server's
 * state is shown but does not decide: it fails for all servers at once, and with none ready, no client could get even
 * an error reply. The broker and the file storage do not decide either, because most requests work without them.
 */
export function getReadiness({
  readiness,
}: Pick<ResponseServices, "readiness">): ResponsesApiHandlers<Caller>["getReadiness"] {
  return async () => {
    const [isStoreReady, hasRoom] = await Promise.all([readiness.isStoreReady(), readiness.hasRoom()]);
    const store = stateOf(isStoreReady);
    const disk = stateOf(hasRoom);
    const server = stateOf(!readiness.isLeaving());
    const isReady = [store, disk, server].every((state) => state === "ok");
    return {
      status: isReady ? 200 : 503,
      body: {
        status: stateOf(isReady),
        checks: { store, disk, server, model: readiness.model.look(), ...readiness.elsewhere() },
        details: { code: engineOf(readiness.code.known) },
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

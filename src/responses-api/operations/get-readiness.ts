import type { ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import type { Caller } from "../access/caller.ts";
import type { ResponseServices } from "../services.ts";

/**
 * `GET /readyz`: the store answers, the disk has room and the server is here to stay. The model server is shown and
 * does not decide: it fails for all servers alike, and where none is ready nobody could even be told so.
 */
export function getReadiness({
  readiness,
}: Pick<ResponseServices, "readiness">): ResponsesApiHandlers<Caller>["getReadiness"] {
  return async () => {
    const [isStoreReady, hasRoom] = await Promise.all([readiness.isStoreReady(), readiness.hasRoom()]);
    const [store, disk] = [stateOf(isStoreReady), stateOf(hasRoom)];
    const server = stateOf(!readiness.isLeaving());
    const isReady = [store, disk, server].every((state) => state === "ok");
    return {
      status: isReady ? 200 : 503,
      body: { status: stateOf(isReady), checks: { store, disk, server, model: readiness.model.look() } },
    };
  };
}

function stateOf(isGood: boolean): "ok" | "unavailable" {
  return isGood ? "ok" : "unavailable";
}

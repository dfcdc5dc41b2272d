import type { ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import type { ApiContext } from "../access/context.ts";
import type { ModelHealth } from "../keeping/model-health.ts";

export interface ReadinessParts {
  /** Must not throw. */
  readonly isStoreReady: () => Promise<boolean>;
  /** Whether there is room to store something. Must not throw. */
  readonly hasRoom: () => Promise<boolean>;
  /** Whether the server was told to stop. */
  readonly isLeaving: () => boolean;
  readonly model: Pick<ModelHealth, "look">;
}

/**
 * `GET /readyz`: the store answers, the disk has room and the server is here to stay. The model server is shown and
 * does not decide: it fails for all servers alike, and where none is ready nobody could even be told so.
 */
export function getReadiness(parts: ReadinessParts): ResponsesApiHandlers<ApiContext>["getReadiness"] {
  return async () => {
    const [isStoreReady, hasRoom] = await Promise.all([parts.isStoreReady(), parts.hasRoom()]);
    const [store, disk] = [stateOf(isStoreReady), stateOf(hasRoom)];
    const server = stateOf(!parts.isLeaving());
    const isReady = [store, disk, server].every((state) => state === "ok");
    return {
      status: isReady ? 200 : 503,
      body: { status: stateOf(isReady), checks: { store, disk, server, model: parts.model.look() } },
    };
  };
}

function stateOf(isGood: boolean): "ok" | "unavailable" {
  return isGood ? "ok" : "unavailable";
}

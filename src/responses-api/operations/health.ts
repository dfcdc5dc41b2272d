import type { ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import type { ApiContext } from "../context.ts";

/** `GET /healthz`: the process answers. */
export function getHealth(): ResponsesApiHandlers<ApiContext>["getHealth"] {
  return async () => ({ status: 200, body: { status: "ok", checks: {} } });
}

/** `GET /readyz`: the store answers. `isStoreReady` must not throw. */
export function getReadiness(isStoreReady: () => Promise<boolean>): ResponsesApiHandlers<ApiContext>["getReadiness"] {
  return async () => {
    const state = (await isStoreReady()) ? "ok" : "unavailable";
    return { status: state === "ok" ? 200 : 503, body: { status: state, checks: { store: state } } };
  };
}

import type { ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import type { ApiContext } from "../access/context.ts";

/** `GET /healthz`: the process answers. */
export function getHealth(): ResponsesApiHandlers<ApiContext>["getHealth"] {
  return async () => ({ status: 200, body: { status: "ok", checks: {} } });
}

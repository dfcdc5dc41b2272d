import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { Caller } from "../access/caller.ts";

/** `GET /healthz`: the process responds. */
export function getHealth(): ResponsesApiHandlers<Caller>["getHealth"] {
  return async () => ({ status: 200, body: { status: "ok", checks: {} } });
}

import type { ModelRequest } from "./model-request.ts";
import { PLAIN_REQUEST } from "./model-request.ts";

/** A request with default settings. */
export function aRequest(changes: Partial<ModelRequest> = {}): ModelRequest {
  return { ...PLAIN_REQUEST, model: "m", items: [{ type: "message", role: "user", content: "Hi" }], ...changes };
}

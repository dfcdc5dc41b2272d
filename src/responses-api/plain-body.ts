import type { Response } from "../../generated/responses-api/types.ts";

/** A response as a plain body shows it: finished ones say who pays, which streams never do. */
export function plainBody(response: Response): Response {
  const running = response.status === "queued" || response.status === "in_progress";
  return running ? response : { ...response, billing: { payer: "developer" } };
}

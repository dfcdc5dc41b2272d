import type { Response } from "../../../generated/responses-api/types.ts";

/**
 * A response as a plain body shows it: finished ones say who pays, which streams never do. The order of members is the
 * reference's.
 */
export function plainBody(response: Response): Response {
  const running = response.status === "queued" || response.status === "in_progress";
  if (running) return response;
  const { id, object, created_at, status, access_programs, background, ...rest } = response;
  return { id, object, created_at, status, access_programs, background, billing: { payer: "developer" }, ...rest };
}

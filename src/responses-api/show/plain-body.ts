import type { Response } from "@antiphon/contracts/responses-api/types.ts";
import type { StoredResponse } from "@antiphon/domain/responses.ts";

/** The same with its pause, if it has one. */
export function pausableBody({ response, pause }: Pick<StoredResponse, "response" | "pause">): Response {
  return pause === null ? plainBody(response) : { ...response, pause };
}

const PAYER: NonNullable<Response["billing"]> = { payer: "developer" };

/**
 * A response as a plain body shows it. A finished one has `billing`, which streams never have. The members have the
 * reference's order.
 */
export function plainBody(response: Response): Response {
  const running = response.status === "queued" || response.status === "in_progress";
  if (running) return response;
  const { id, object, created_at, status, access_programs, background } = response;
  const first: Partial<Response> = { id, object, created_at, status, access_programs, background, billing: PAYER };
  return { ...first, ...response }; // Faster than collecting the other members first.
}

import { ApiError } from "../../base/api-error.ts";
import type { Faults } from "../faults.ts";

/** What was thrown, as callers are told of it; null: it is a fault of ours, of which they learn nothing but that. */
export function namedFault(error: unknown, faults: Pick<Faults, "ofError">): ApiError | null {
  return error instanceof ApiError ? error : (faults.ofError?.(error) ?? null);
}

import type { UpdateVectorStoreRequest } from "../../../generated/responses-api/types.ts";
import type { VectorStoreChange } from "../vector-stores.ts";

/** Null takes a value away, so that a store has no name, no pairs, or no end. */
export function storeChange({ name, metadata, expires_after: expiry }: UpdateVectorStoreRequest): VectorStoreChange {
  return {
    ...(name === undefined ? {} : { name: name ?? "" }),
    ...(metadata === undefined ? {} : { metadata: metadata ?? {} }),
    ...(expiry === undefined ? {} : { expiresAfterDays: expiry?.days ?? null }),
  };
}

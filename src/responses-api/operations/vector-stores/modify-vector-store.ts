import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { UpdateVectorStoreRequest } from "@antiphon/contracts/responses-api/types.ts";
import type { VectorStoreChange, VectorStores } from "@antiphon/domain/vector-stores.ts";
import type { Caller } from "../../access/caller.ts";
import { vectorStoreExpired, vectorStoreNotFound } from "../../errors/vector-store-errors.ts";

/** `POST /v1/vector_stores/{vector_store_id}`: changes what the body names, and counts as a use. */
export function modifyVectorStore(vectorStores: VectorStores): ResponsesApiHandlers<Caller>["modifyVectorStore"] {
  return async ({ path: { vector_store_id: id }, body }, { principal: { owner } }) => {
    const store = await vectorStores.changeStore(owner, id, storeChange(body));
    if (store === null) throw vectorStoreNotFound(id);
    if (store.status === "expired") throw vectorStoreExpired(id);
    return { status: 200, body: store };
  };
}

/** Null removes a value, so that a store has no name, no pairs, or no expiry. */
export function storeChange({ name, metadata, expires_after: expiry }: UpdateVectorStoreRequest): VectorStoreChange {
  return {
    ...(name === undefined ? {} : { name: name ?? "" }),
    ...(metadata === undefined ? {} : { metadata: metadata ?? {} }),
    ...(expiry === undefined ? {} : { expiresAfterDays: expiry?.days ?? null }),
  };
}

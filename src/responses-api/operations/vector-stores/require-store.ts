import type { VectorStore } from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { VectorStores } from "@antiphon/domain/vector-stores.ts";
import { vectorStoreNotFound } from "../../errors/vector-store-errors.ts";

/** The store, so that an unknown store and an unknown file in it get different errors. */
export async function requireStore(vectorStores: VectorStores, owner: Owner, storeId: string): Promise<VectorStore> {
  const store = await vectorStores.findStore(owner, storeId);
  if (store === null) throw vectorStoreNotFound(storeId);
  return store;
}

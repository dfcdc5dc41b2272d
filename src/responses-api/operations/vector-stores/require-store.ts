import type { VectorStore } from "../../../../generated/responses-api/types.ts";
import type { Owner } from "../../../runs/ports/owner.ts";
import { vectorStoreNotFound } from "../../errors/vector-store-errors.ts";
import type { ResponseServices } from "../../services.ts";

/** The store, so that an unknown store and an unknown file in it get different errors. */
export async function requireStore(
  { vectorStores }: Pick<ResponseServices, "vectorStores">,
  owner: Owner,
  storeId: string,
): Promise<VectorStore> {
  const store = await vectorStores.findStore(owner, storeId);
  if (store === null) throw vectorStoreNotFound(storeId);
  return store;
}

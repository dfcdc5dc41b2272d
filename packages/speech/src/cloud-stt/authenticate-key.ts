import { hashApiKey } from "@antiphon/base/api-key.ts";
import { missingKey, wrongKey } from "./errors.ts";
import type { CloudKeyFinder } from "./ports.ts";

/** The caller of a stream. */
export interface CloudCaller {
  readonly keyId: string;
}

type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Checks `x-api-key`. Rejects with a 401 if the key is missing, unknown, revoked or expired. */
export function createKeyCheck(keys: CloudKeyFinder): (headers: RequestHeaders) => Promise<CloudCaller> {
  return async (headers) => {
    const header = headers["x-api-key"];
    const secret = typeof header === "string" ? header.trim() : "";
    if (secret === "") throw missingKey();
    const key = await keys.findByHash(hashApiKey(secret));
    if (key === null) throw wrongKey();
    return { keyId: key.id };
  };
}

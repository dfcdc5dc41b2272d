import { hashApiKey } from "../base/api-key.ts";
import { missingKey, wrongKey } from "./errors.ts";
import type { KeyFinder } from "./ports.ts";

/** Whose stream it is. */
export interface CloudCaller {
  readonly keyId: string;
}

type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Reads `x-api-key`. Rejects with the 401 of a key that is missing, wrong, revoked or expired. */
export function createKeyCheck(keys: KeyFinder): (headers: RequestHeaders) => Promise<CloudCaller> {
  return async (headers) => {
    const given = headers["x-api-key"];
    const secret = typeof given === "string" ? given.trim() : "";
    if (secret === "") throw missingKey();
    const key = await keys.findByHash(hashApiKey(secret));
    if (key === null) throw wrongKey();
    return { keyId: key.id };
  };
}

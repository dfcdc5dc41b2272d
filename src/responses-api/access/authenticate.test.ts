import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { hashApiKey } from "../../base/api-key.ts";
import type { KeyFinder, KnownKey } from "../ports.ts";
import { createAuthenticator, KEY_CACHE_MS } from "./authenticate.ts";

const SECRET = "sk-0123456789abcdefghij";
const OWNER = { organization: "acme", project: "web" };
const KEY: KnownKey = { id: "key_1", owners: [OWNER], isRouted: true, limits: { requests: 5, tokens: null } };
const HEADERS = { authorization: `Bearer ${SECRET}` };

/** Keys in memory. `looks` counts the calls of `findByHash`. */
function keysOf(known: Map<string, KnownKey>): KeyFinder & { looks: number } {
  const finder = {
    looks: 0,
    findByHash: async (hash: string) => {
      finder.looks += 1;
      return known.get(hash) ?? null;
    },
  };
  return finder;
}

describe("an authenticator", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
  afterEach(() => void vi.useRealTimers());

  test("caches a key for a while, then notices that it was revoked", async () => {
    const known = new Map([[hashApiKey(SECRET), KEY]]);
    const keys = keysOf(known);
    const authenticate = createAuthenticator(keys);
    expect(await authenticate(HEADERS)).toMatchObject({ keyId: "key_1", owner: OWNER, limits: KEY.limits });
    known.clear();
    vi.advanceTimersByTime(KEY_CACHE_MS - 1);
    await authenticate(HEADERS);
    expect(keys.looks).toBe(1);
    vi.advanceTimersByTime(1);
    await expect(authenticate(HEADERS)).rejects.toMatchObject({ status: 401, code: "invalid_api_key" });
  });

  test("does not cache an unknown key, because it may be created the next moment", async () => {
    const known = new Map<string, KnownKey>();
    const authenticate = createAuthenticator(keysOf(known));
    await expect(authenticate(HEADERS)).rejects.toMatchObject({ status: 401 });
    known.set(hashApiKey(SECRET), KEY);
    expect(await authenticate(HEADERS)).toMatchObject({ owner: OWNER });
  });
});

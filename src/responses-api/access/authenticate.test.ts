import { hashApiKey } from "@antiphon/base/api-key.ts";
import type { KeyFinder, KnownKey } from "@antiphon/domain/keys.ts";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createAuthenticator } from "./authenticate.ts";
import { CachedKeys, KEY_CACHE_MS } from "./cached-keys.ts";

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
    const authenticate = createAuthenticator(new CachedKeys(keys));
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
    const authenticate = createAuthenticator(new CachedKeys(keysOf(known)));
    await expect(authenticate(HEADERS)).rejects.toMatchObject({ status: 401 });
    known.set(hashApiKey(SECRET), KEY);
    expect(await authenticate(HEADERS)).toMatchObject({ owner: OWNER });
  });

  test("notices at once that a key was revoked if it is told that keys changed", async () => {
    const known = new Map([[hashApiKey(SECRET), KEY]]);
    const cached = new CachedKeys(keysOf(known));
    const authenticate = createAuthenticator(cached);
    await authenticate(HEADERS);
    known.clear();
    cached.forget();
    await expect(authenticate(HEADERS)).rejects.toMatchObject({ status: 401, code: "invalid_api_key" });
  });

  test("looks a key up once for requests that come at the same time, and caches it from when it was asked for", async () => {
    const answer = Promise.withResolvers<KnownKey | null>();
    let looks = 0;
    const cached = new CachedKeys({ findByHash: () => ((looks += 1), answer.promise) });
    const authenticate = createAuthenticator(cached);
    const asked = [authenticate(HEADERS), authenticate(HEADERS)];
    vi.advanceTimersByTime(KEY_CACHE_MS - 1);
    answer.resolve(KEY);
    expect(await Promise.all(asked)).toHaveLength(2);
    await authenticate(HEADERS);
    expect(looks).toBe(1);
    vi.advanceTimersByTime(1);
    await authenticate(HEADERS);
    expect(looks).toBe(2);
  });

  test("does not cache what it asked for before keys changed", async () => {
    const answers = [Promise.withResolvers<KnownKey | null>(), Promise.withResolvers<KnownKey | null>()];
    let looks = 0;
    const none = Promise.resolve(null);
    const cached = new CachedKeys({ findByHash: () => answers[looks++]?.promise ?? none });
    const authenticate = createAuthenticator(cached);
    const before = authenticate(HEADERS);
    cached.forget();
    const after = authenticate(HEADERS);
    answers[0]?.resolve(KEY);
    expect(await before).toMatchObject({ keyId: "key_1" });
    answers[1]?.resolve(null);
    await expect(after).rejects.toMatchObject({ status: 401 });
    await expect(authenticate(HEADERS)).rejects.toMatchObject({ status: 401 });
  });
});

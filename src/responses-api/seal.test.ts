import { createCipheriv, createHmac, randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { createSealer } from "./seal.ts";

const OWNER = "org/project";

/** Seals in the first format, which has no key id. */
function sealWithoutKeyId(key: Buffer, text: string): string {
  const nonce = createHmac("sha256", key).update(text).digest().subarray(0, 12);
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(OWNER));
  const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([Buffer.from([1]), nonce, cipher.getAuthTag(), body]).toString("base64url");
}

test("a seal opens for its owner only", () => {
  verifies("state.sealed.content-is-bound");
  const sealer = createSealer(() => [randomBytes(32)]);
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string(), fc.string(), (text, place, owner) => {
      const sealed = sealer.seal(text, place, owner);
      expect(sealer.open(sealed, owner)).toBe(Buffer.from(text).toString());
      expect(sealer.open(sealed, `${owner}x`)).toBeNull();
    }),
  );
});

test("a seal with one changed bit or a shorter length does not open", () => {
  const sealer = createSealer(() => [randomBytes(32)]);
  const sealed = Buffer.from(sealer.seal("hello", "rs_1", OWNER), "base64url");
  for (let bit = 0; bit < sealed.length * 8; bit += 1) {
    const changed = Buffer.from(sealed);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    expect(sealer.open(changed.toString("base64url"), OWNER)).toBeNull();
  }
  for (let length = 0; length < sealed.length; length += 1)
    expect(sealer.open(sealed.subarray(0, length).toString("base64url"), OWNER)).toBeNull();
});

test("a seal with a changed, added or missing character does not open", () => {
  const sealer = createSealer(() => [randomBytes(32)]);
  for (const text of ["", "a", "ab", "abc"]) {
    const sealed = sealer.seal(text, "rs_1", OWNER);
    for (let at = 0; at <= sealed.length; at += 1) {
      const before = sealed.slice(0, at);
      const after = sealed.slice(at + 1);
      for (const character of ["A", "B", "_", "=", " ", "é", ""]) {
        const changed = `${before}${character}${after}`;
        if (changed !== sealed) expect(sealer.open(changed, OWNER), changed).toBeNull();
      }
    }
  }
});

test("the newest key seals; every key opens its own seals and those without a key id", () => {
  verifies("state.sealed.keys-rotate");
  const first = randomBytes(32);
  const second = randomBytes(32);
  const third = randomBytes(32);
  const oldest = sealWithoutKeyId(first, "from the beginning");
  const before = createSealer(() => [second, first]).seal("before", "rs_1", OWNER);
  const rotated = createSealer(() => [third, second, first]);
  expect(rotated.open(oldest, OWNER)).toBe("from the beginning");
  expect(rotated.open(before, OWNER)).toBe("before");
  const after = rotated.seal("after", "rs_1", OWNER);
  expect(createSealer(() => [third]).open(after, OWNER)).toBe("after");
  expect(createSealer(() => [second, first]).open(after, OWNER)).toBeNull();
  expect(createSealer(() => [third]).open(before, OWNER)).toBeNull();
});

test("a running server learns of a key that another process added, but does not read the keys for every forged seal", () => {
  const old = randomBytes(32);
  const added = randomBytes(32);
  let keys: readonly Buffer[] = [old];
  let reads = 0;
  let nowMs = 0;
  const running = createSealer(
    () => {
      reads += 1;
      return keys;
    },
    () => nowMs,
  );
  keys = [added, old];
  const sealed = createSealer(() => keys).seal("new", "rs_1", OWNER);
  expect(running.open(sealed, OWNER)).toBeNull();
  nowMs = 6000;
  expect(running.open(sealed, OWNER)).toBe("new");
  const forged = createSealer(() => [randomBytes(32)]).seal("forged", "rs_1", OWNER);
  for (let count = 0; count < 100; count += 1) expect(running.open(forged, OWNER)).toBeNull();
  expect(reads).toBe(2);
});

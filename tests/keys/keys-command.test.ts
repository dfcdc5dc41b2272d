import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { makeKey, runKeys } from "./keys-command.ts";

/** The time that the contract promises, and some more for a slow machine. */
const REVOKED_WITHIN_MS = 2_000 + 500;

describe("the command keys", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.close());

  const statusWith = async (key: string): Promise<number> => {
    const reply = await fetch(`${server.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    await reply.text();
    return reply.status;
  };
  const listed = async (): Promise<readonly string[]> =>
    (await runKeys(server.dataDir, "list")).out.split("\n").filter((line) => line !== "");

  test("makes a key that works at once, and prints only the key on standard output", async () => {
    verifies("auth.keys.made-listed-revoked");
    const made = await runKeys(server.dataDir, "create", "--name", "my laptop", "--owner", "acme/web");
    expect(made.code).toBe(0);
    expect(made.out).toMatch(/^sk-antiphon-[A-Za-z0-9]{48}\n$/);
    const key = made.out.trim();
    expect(made.err).not.toContain(key);
    expect(await statusWith(key)).toBe(200);
    const line = (await listed()).find((text) => text.includes('"my laptop"')) ?? "";
    expect(line).toMatch(
      /^key_\S+ {2}…\w{4} {2}"my laptop" {2}acts for acme\/web {2}default requests and default tokens/,
    );
    expect(line).toContain(`…${key.slice(-4)}`);
    expect(line).not.toContain(key.slice(0, -4).slice(-8));
  });

  test("revokes a key, which soon stops working, and no other key", async () => {
    verifies("auth.keys.made-listed-revoked");
    const [lost, kept] = [await makeKey(server.dataDir), await makeKey(server.dataDir)];
    expect([await statusWith(lost), await statusWith(kept)]).toEqual([200, 200]);
    const id = (await listed()).find((line) => line.includes(`…${lost.slice(-4)}`))?.split(" ")[0] ?? "";
    expect(await runKeys(server.dataDir, "revoke", id)).toMatchObject({ code: 0, err: `${id} is revoked.\n` });
    const revokedAt = performance.now();
    while ((await statusWith(lost)) === 200) {
      expect(performance.now() - revokedAt).toBeLessThan(REVOKED_WITHIN_MS);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect([await statusWith(lost), await statusWith(kept)]).toEqual([401, 200]);
    expect((await listed()).filter((line) => line.includes("  revoked "))).toHaveLength(1);
    expect(await runKeys(server.dataDir, "revoke", id)).toMatchObject({ code: 1, out: "" });
  });

  test("makes a key with an expiry if asked to", async () => {
    verifies("auth.keys.expire");
    const [brief, lasting] = [
      await makeKey(server.dataDir, "--expires-in", "2s"),
      await makeKey(server.dataDir, "--expires-in", "90d"),
    ];
    expect(await statusWith(lasting)).toBe(200);
    await expect.poll(() => statusWith(brief), { interval: 200 }).toBe(401);
    expect(await statusWith(lasting)).toBe(200);
    expect((await listed()).filter((line) => line.includes("  expires "))).toHaveLength(2);
  });

  test("leaves no key in any file", async () => {
    verifies("auth.keys.only-hashes-are-kept");
    const key = await makeKey(server.dataDir, "--owner", "acme/web", "--requests-per-minute", "5");
    await statusWith(key);
    for (const name of await readdir(server.dataDir, { recursive: true })) {
      const content = await readFile(join(server.dataDir, name), "latin1").catch(() => "");
      expect(content, name).not.toContain(key);
    }
  });

  test.each([
    ["no name", ["create"], "--name needs"],
    ["an invalid owner", ["create", "--name", "x", "--owner", "acme"], "--owner 'acme' is not"],
    ["a limit of nothing", ["create", "--name", "x", "--tokens-per-minute", "0"], "--tokens-per-minute '0' is no"],
    ["an invalid expiry", ["create", "--name", "x", "--expires-in", "soon"], "--expires-in 'soon' is not a whole"],
    ["an unknown flag", ["create", "--name", "x", "--owners", "a/b"], "--owners"],
    ["an unknown action", ["rotate"], "'rotate' is none of create, list, revoke."],
    ["no id to revoke", ["revoke"], "revoke needs the id of one key"],
    ["a database that keeps nothing", ["list", "--database-file", ":memory:"], "keys are lost when this command ends"],
  ])("tells what is wrong with %s, without a stack", async (_title, words, message) => {
    const { code, out, err } = await runKeys(server.dataDir, ...words);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain(message);
    expect(err).not.toMatch(/\n +at /);
  });

  test("prints its usage", async () => {
    expect(await runKeys(server.dataDir, "--help")).toMatchObject({
      code: 0,
      out: expect.stringContaining("keys create --name NAME"),
    });
  });
});

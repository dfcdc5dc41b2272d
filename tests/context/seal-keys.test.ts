import { execFile } from "node:child_process";
import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startWithTwoOwners } from "../keys/two-owners.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { compact, create, MODEL, start, textOf, user } from "./compact.fixture.ts";

const MAIN = join(import.meta.dirname, "../../src/main.ts");

function rotate(
  dataDir: string,
  more: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const env = { PATH: process.env["PATH"] ?? "", DATA_DIR: dataDir, ...more };
    const child = execFile(process.execPath, [MAIN, "rotate-seal-key"], { env, timeout: 15_000 }, (_error, out, err) =>
      resolve({ code: child.exitCode, output: out + err }),
    );
  });
}

async function startOn(dataDir: string): Promise<TestServer> {
  return startTestServer({ env: { DATA_DIR: dataDir, DATABASE_FILE: ":memory:", API_KEYS: "sk-rotating-0123456789" } });
}

test("after a rotation old seals still open, and new seals need the new key", async () => {
  verifies("state.sealed.keys-rotate");
  const folder = temporaryFolder();
  const keyFile = join(folder, "seal-key");
  await writeFile(keyFile, `${"ab".repeat(32)}\n`); // The old format, with a single key.
  const first = await startOn(folder);
  const before = await compact(first, { input: "My name is Ada." });

  const rotated = await rotate(folder);
  expect(rotated).toMatchObject({ code: 0, output: expect.stringContaining("1 older") });
  const keys = (await readFile(keyFile, "utf8")).trim().split("\n");
  expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), "ab".repeat(32)]);
  expect(rotated.output).not.toContain(keys[0]);
  expect((await stat(keyFile)).mode & 0o777).toBe(0o600);

  const second = await startOn(folder);
  const after = await compact(second, { input: "My name is Bob." });
  const asks = async (server: TestServer, { output }: typeof before) =>
    textOf((await create(server, { input: [...output, user("What is my name?")] })).output);
  expect(await asks(second, before)).toBe("Your name is Ada.");
  expect(await asks(second, after)).toBe("Your name is Bob.");
  expect(await asks(first, before)).toBe("Your name is Ada.");
  await Promise.all([first.close(), second.close()]);

  await writeFile(keyFile, `${keys[1]}\n`);
  const old = await startOn(folder);
  const refused = await old.post("/v1/responses", { model: MODEL, input: [...after.output, user("Hi")] });
  expect(await refused.json()).toMatchObject({ error: { code: "invalid_encrypted_content" } });
  await old.close();
});

async function startWithKeys(keys: string): Promise<TestServer> {
  const env = { SEAL_KEYS: keys, DATABASE_FILE: ":memory:", API_KEYS: "sk-rotating-0123456789" };
  return await startTestServer({ env });
}

async function asksForName(server: TestServer, { output }: Awaited<ReturnType<typeof compact>>): Promise<string> {
  return textOf((await create(server, { input: [...output, user("What is my name?")] })).output);
}

const [OLD_KEY, NEW_KEY] = ["ab".repeat(32), "cd".repeat(32)];

test("servers with the same SEAL_KEYS open each other's seals, while a new key comes and the old one goes", async () => {
  verifies("state.sealed.keys-rotate");
  const before = await startWithKeys(OLD_KEY);
  const [prepared, rotated] = [
    await startWithKeys(`${OLD_KEY},${NEW_KEY}`),
    await startWithKeys(`${NEW_KEY}, ${OLD_KEY}`),
  ];
  const after = await startWithKeys(NEW_KEY);
  const old = await compact(before, { input: "My name is Ada." });
  for (const server of [before, prepared, rotated]) expect(await asksForName(server, old)).toBe("Your name is Ada.");
  const fresh = await compact(rotated, { input: "My name is Bob." });
  for (const server of [prepared, rotated, after]) expect(await asksForName(server, fresh)).toBe("Your name is Bob.");
  const refused = await after.post("/v1/responses", { model: MODEL, input: [...old.output, user("Hi")] });
  expect(await refused.json()).toMatchObject({ error: { code: "invalid_encrypted_content" } });
  await expect(stat(join(after.dataDir, "seal-key"))).rejects.toThrow("ENOENT");
});

test("SEAL_KEYS can name a file, which is read again when a seal names an unknown key", async () => {
  const folder = temporaryFolder();
  const file = join(folder, "keys");
  await writeFile(file, `${OLD_KEY}\n`);
  const server = await startWithKeys(file);
  const old = await compact(server, { input: "My name is Ada." });
  expect(await asksForName(await startWithKeys(OLD_KEY), old)).toBe("Your name is Ada.");
  await rm(file);
  await expect(startWithKeys(file)).rejects.toThrow(`SEAL_KEYS names the file ${file}, which is not there.`);
});

test("what is wrong with SEAL_KEYS is said without showing a key", async () => {
  const bad = await startWithKeys(`${OLD_KEY},secret-but-short`).catch(String);
  expect(bad).toContain("Key 2 of SEAL_KEYS is not 64 hexadecimal digits.");
  expect(bad).not.toMatch(/secret-but-short|abab/);
  const { code, output } = await rotate(tmpdir(), { SEAL_KEYS: OLD_KEY });
  expect([code, output]).toEqual([2, expect.stringContaining("SEAL_KEYS holds the keys, so add a new key there")]);
});

test("a server that shares a database does not start without SEAL_KEYS", async () => {
  const env = { DATABASE_URL: "postgres://127.0.0.1:1/nowhere", SEAL_KEYS: "" };
  const refused = await startTestServer({ env }).catch(String);
  expect(refused).toContain("DATABASE_URL is set, but SEAL_KEYS is not.");
});

test("an unreadable key file is named, and none of its content is shown", async () => {
  const folder = temporaryFolder();
  await writeFile(join(folder, "seal-key"), `${"cd".repeat(32)}\nsecret-but-short\n`);
  const { code, output } = await rotate(folder);
  expect(code).toBe(2);
  expect(output).toContain(`Line 2 of ${join(folder, "seal-key")} is no key`);
  expect(output).not.toMatch(/secret-but-short|cdcd|\n +at /);
});

test("content sealed for one owner cannot be opened by another owner of the same server", async () => {
  verifies("state.sealed.content-is-bound");
  const { server, ours, theirs } = await startWithTwoOwners();
  onTestFinished(() => server.close());
  const made = await ours.ask("POST", "/v1/responses/compact", { model: MODEL, input: "My name is Ada." });
  const { output }: { output: readonly object[] } = await made.json();
  const body = { model: MODEL, input: [...output, user("What is my name?")] };
  for (const path of ["/v1/responses", "/v1/responses/compact", "/v1/responses/input_tokens"]) {
    expect((await ours.ask("POST", path, body)).status).toBe(200);
    const reply = await theirs.ask("POST", path, body);
    expect(reply.status).toBe(400);
    expect(await reply.json()).toMatchObject({ error: { code: "invalid_encrypted_content" } });
  }
});

test("each server makes its own key", async () => {
  const server = await start();
  expect(await readFile(join(server.dataDir, "seal-key"), "utf8")).toMatch(/^[0-9a-f]{64}\n$/);
});

import { mkdtemp, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Login, LoginFile } from "./login-file.ts";

const LOGIN: Login = {
  url: "https://mcp.example/mcp",
  issuer: "https://login.example",
  resource: "https://mcp.example/mcp",
  scope: "a b",
  client: { client_id: "c", client_secret: "s" },
  access: { value: "access", obtainedAt: 1, expiresAt: null },
  refreshToken: "refresh",
  isOver: false,
};

async function newFolder(): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), "antiphon-logins-"));
  onTestFinished(() => rm(parent, { recursive: true, force: true }));
  return join(parent, "mcp-logins");
}

const NEVER = new AbortController().signal;

test("a login is read as it was written, and only its user may read it", async () => {
  const folder = await newFolder();
  const file = new LoginFile(folder, "bank");
  expect(await file.read()).toBeNull();
  await file.write({ ...LOGIN, isOver: true });
  await file.write(LOGIN);
  expect(await new LoginFile(folder, "bank").read()).toEqual(LOGIN);
  expect(await readdir(folder)).toEqual(["bank.json"]);
  expect((await stat(join(folder, "bank.json"))).mode & 0o777).toBe(0o600);
  await file.remove();
  expect(await file.read()).toBeNull();
});

test.each(["", "{", "[]", '{"url":"x"}', JSON.stringify({ ...LOGIN, access: { value: 3 } })])(
  "a file with %j has no login",
  async (text) => {
    const folder = await newFolder();
    const file = new LoginFile(folder, "bank");
    await file.write(LOGIN);
    await writeFile(join(folder, "bank.json"), text);
    expect(await file.read()).toBeNull();
  },
);

test("only one works at a time", async () => {
  const folder = await newFolder();
  let working = 0;
  const workAlone = async (): Promise<void> => {
    await new LoginFile(folder, "bank").alone(NEVER, async () => {
      working += 1;
      expect(working).toBe(1);
      await new Promise(setImmediate);
      working -= 1;
    });
  };
  await Promise.all(Array.from({ length: 6 }, workAlone));
  expect(await readdir(folder)).toEqual([]);
});

test("a lock is waited for until the signal, and one that a crash left is broken by one of many", async () => {
  const folder = await newFolder();
  const held = await new LoginFile(folder, "bank").alone(NEVER, async () => {
    const impatient = new AbortController();
    const waiting = new LoginFile(folder, "bank").alone(impatient.signal, async () => {});
    impatient.abort();
    return await waiting.catch((error: unknown) => error);
  });
  expect(held).toMatchObject({ name: "AbortError" });
  await writeFile(join(folder, "bank.lock"), "");
  await utimes(join(folder, "bank.lock"), new Date(0), new Date(0));
  let working = 0;
  const workAlone = async (): Promise<void> => {
    await new LoginFile(folder, "bank").alone(NEVER, async () => {
      working += 1;
      expect(working).toBe(1);
      await new Promise(setImmediate);
      working -= 1;
    });
  };
  await Promise.all(Array.from({ length: 6 }, workAlone));
  expect(await readdir(folder)).toEqual([]);
});

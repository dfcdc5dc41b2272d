import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test, vi } from "vitest";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { formOf, namedFile } from "../kit/upload.ts";
import { verifies } from "../verifies.ts";

async function start(env: Readonly<Record<string, string>>): Promise<TestServer> {
  return await startTestServer({ env });
}

async function create(server: TestServer, members: object = {}): Promise<string> {
  return (await (await server.post("/v1/containers", { name: "a", ...members })).json()).id;
}

async function put(server: TestServer, id: string, text: string): Promise<Response> {
  return await server.fetch(`/v1/containers/${id}/files`, {
    method: "POST",
    body: formOf({ file: namedFile(text, "a.txt") }),
  });
}

test("beyond the containers and the bytes of an owner, a 429 says so and asks for no repetition", async () => {
  verifies("containers.quota.per-owner");
  const server = await start({ OWNER_CONTAINERS_MAX: "2", OWNER_CONTAINER_BYTES_MAX: "10" });
  const [first, second] = [await create(server), await create(server)];
  const third = await server.post("/v1/containers", { name: "a" });
  expect([third.status, third.headers.get("x-should-retry")]).toEqual([429, "false"]);
  expect((await third.json()).error).toMatchObject({
    code: "insufficient_quota",
    message: "This project may have at most 2 containers at a time. Delete some.",
  });
  expect((await put(server, first, "12345678")).status).toBe(200);
  const full = await put(server, second, "123");
  expect([full.status, full.headers.get("x-should-retry")]).toEqual([429, "false"]);
  expect((await full.json()).error.message).toContain("10 bytes");
  await server.fetch(`/v1/containers/${first}`, { method: "DELETE" });
  expect((await put(server, second, "123")).status).toBe(200);
  await create(server);
});

test("CONTAINER_TTL is the time without use after which a container expires", async () => {
  verifies("containers.expiry.idle");
  const server = await start({ CONTAINER_TTL: "90m" });
  const made = await (await server.post("/v1/containers", { name: "a" })).json();
  expect(made.expires_after).toEqual({ anchor: "last_active_at", minutes: 90 });
});

test("a server that starts removes the files of containers that expired while none ran", async () => {
  verifies("containers.expiry.idle");
  const folder = temporaryFolder();
  const env = { DATA_DIR: folder, API_KEYS: "sk-ours-0123456789" };
  const before = await start(env);
  const [old, young] = [await create(before), await create(before)];
  for (const id of [old, young]) expect((await put(before, id, "a")).status).toBe(200);
  await before.close();
  const database = new DatabaseSync(join(folder, "antiphon.db"));
  database.prepare("update containers set expires_at = 1 where id = ?").run(old);
  database.close();
  const after = await start(env);
  await vi.waitFor(() => expect(existsSync(join(folder, "containers", old))).toBe(false), { timeout: 10_000 });
  expect(existsSync(join(folder, "containers", young))).toBe(true);
  expect((await after.fetch(`/v1/containers/${young}/files`)).status).toBe(200);
});

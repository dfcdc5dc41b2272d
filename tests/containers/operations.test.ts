import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import OpenAI, { toFile } from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { query } from "../kit/tested-store.ts";
import { verifies } from "../verifies.ts";

const KEYS = { ours: "sk-ours-0123456789", theirs: "sk-theirs-0123456789" };

let server: TestServer;
let client: OpenAI;
let theirs: OpenAI;
beforeAll(async () => {
  server = await startTestServer({
    env: { API_KEYS: `${KEYS.ours}=org/one,${KEYS.theirs}=org/two`, CONTAINER_BYTES_MAX: "1048576" },
  });
  const baseURL = `${server.url}/v1`;
  client = new OpenAI({ baseURL, apiKey: KEYS.ours, maxRetries: 0 });
  theirs = new OpenAI({ baseURL, apiKey: KEYS.theirs, maxRetries: 0 });
});
afterAll(() => server.close());

async function upload(name: string, text: string, as = client): Promise<string> {
  return (await as.files.create({ file: await toFile(Buffer.from(text), name), purpose: "user_data" })).id;
}

async function put(container: string, name: string, text: string) {
  return await client.containers.files.create(container, { file: await toFile(Buffer.from(text), name) });
}

interface Reply {
  readonly status: number | undefined;
  readonly code: string | null | undefined;
  readonly message: string;
  readonly param: string | null | undefined;
}

/** The error that a call rejects with; its message is without the status that the client puts before it. */
async function errorOf(call: Promise<unknown>): Promise<Reply> {
  const error = await call.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof OpenAI.APIError)) throw new Error("the call was not refused");
  const message = error.message.replace(/^\d+ /, "");
  return { status: error.status, code: error.code, message, param: error.param };
}

async function ask(method: string, path: string, body?: unknown): Promise<Response> {
  return await fetch(`${server.url}/v1/containers${path}`, {
    method,
    headers: { authorization: `Bearer ${KEYS.ours}`, "content-type": "application/json" },
    body: body === undefined ? null : JSON.stringify(body),
  });
}

/** As if the container had not been used for this long. */
async function makeOld(container: string, seconds: number): Promise<void> {
  const sql = "update containers set last_active_at = last_active_at - ?, expires_at = expires_at - ? where id = ?";
  await query(server.dataDir, sql, seconds, seconds, container);
}

test("a container has the members of the reference, and its defaults", async () => {
  verifies("containers.create.object-of-the-reference");
  const made = await client.containers.create({ name: "Analysis" });
  expect(made).toEqual({
    id: expect.stringMatching(/^cntr_[0-9a-f]{48}$/),
    object: "container",
    created_at: expect.any(Number),
    status: "running",
    expires_after: { anchor: "last_active_at", minutes: 20 },
    last_active_at: expect.any(Number),
    memory_limit: "1g",
    name: "Analysis",
    network_policy: { type: "disabled" },
  });
  const asked = {
    name: "b",
    expires_after: { anchor: "last_active_at", minutes: 5 },
    memory_limit: "1g",
    network_policy: { type: "disabled" },
  } as const;
  const full = await client.containers.create({ ...asked, skills: [], file_ids: [] });
  expect(full).toMatchObject(asked);
  expect(await client.containers.retrieve(full.id)).toEqual({ ...full, last_active_at: expect.any(Number) });
});

test("what a container cannot have here is refused by name", async () => {
  verifies("containers.create.refused-by-name");
  const { containers } = client;
  const network_policy = { type: "allowlist", allowed_domains: ["example.com"] } as const;
  const open = { ...network_policy, allowed_domains: [...network_policy.allowed_domains] };
  expect(await errorOf(containers.create({ name: "a", network_policy: open }))).toMatchObject({
    status: 400,
    code: "unsupported_parameter",
    param: "network_policy",
  });
  expect(await errorOf(containers.create({ name: "a", memory_limit: "4g" }))).toMatchObject({
    status: 400,
    param: "memory_limit",
    message: expect.stringContaining("CODE_MEMORY_MAX"),
  });
});

test.each([
  [{}, "missing_required_parameter", "name"],
  [{ name: 1 }, "invalid_type", "name"],
  [{ name: "x".repeat(257) }, "string_above_max_length", "name"],
  [{ name: "a", memory_limit: "2g" }, "invalid_value", "memory_limit"],
  [{ name: "a", expires_after: { anchor: "created_at", minutes: 5 } }, "invalid_value", "expires_after.anchor"],
  [
    { name: "a", expires_after: { anchor: "last_active_at", minutes: 0 } },
    "integer_below_min_value",
    "expires_after.minutes",
  ],
  [{ name: "a", file_ids: Array.from({ length: 51 }, () => "f") }, "array_above_max_length", "file_ids"],
  [{ name: "a", color: "red" }, "unknown_parameter", "color"],
])("a container of %j is refused with %s for %s", async (body, code, param) => {
  verifies("containers.create.name-length");
  const reply = await ask("POST", "", body);
  expect([reply.status, (await reply.json()).error]).toMatchObject([400, { code, param }]);
});

test("files go up, are listed, read and removed", async () => {
  verifies("containers.files.upload-and-download");
  const { id } = await client.containers.create({ name: "a" });
  const file = await put(id, "sales.csv", "1,2");
  expect(file).toEqual({
    id: expect.stringMatching(/^cfile_[0-9a-f]{48}$/),
    object: "container.file",
    bytes: 3,
    container_id: id,
    created_at: expect.any(Number),
    path: "/mnt/data/sales.csv",
    source: "user",
  });
  const { files } = client.containers;
  expect(await files.retrieve(file.id, { container_id: id })).toEqual(file);
  const content = await files.content.retrieve(file.id, { container_id: id });
  expect(await content.text()).toBe("1,2");
  expect(content.headers.get("content-type")).toBe("application/octet-stream");
  expect(content.headers.get("content-disposition")).toBe(
    `attachment; filename="sales.csv"; filename*=UTF-8''sales.csv`,
  );
  expect((await files.list(id)).data).toEqual([file]);
  const removed = await ask("DELETE", `/${id}/files/${file.id}`);
  expect(await removed.json()).toEqual({ id: file.id, object: "container.file.deleted", deleted: true });
  const unknown = { status: 404, message: `No file found with id '${file.id}' in container '${id}'.` };
  expect(await errorOf(files.retrieve(file.id, { container_id: id }))).toMatchObject(unknown);
  expect(await errorOf(files.content.retrieve(file.id, { container_id: id }))).toMatchObject(unknown);
  expect(await errorOf(files.delete(file.id, { container_id: id }))).toMatchObject(unknown);
});

test("uploaded files are copied, by a form, by JSON and at the creation", async () => {
  verifies("containers.files.copies-of-uploads");
  const [first, second] = [await upload("a.csv", "1"), await upload("b.csv", "22")];
  const { id } = await client.containers.create({ name: "a", file_ids: [first] });
  expect(await client.containers.files.create(id, { file_id: second })).toMatchObject({ path: "/mnt/data/b.csv" });
  const third = await upload("c.csv", "333");
  const byJson = await ask("POST", `/${id}/files`, { file_id: third });
  expect(await byJson.json()).toMatchObject({ path: "/mnt/data/c.csv", bytes: 3, source: "user" });
  await client.files.delete(first);
  const { data } = await client.containers.files.list(id, { order: "asc" });
  expect(data.map(({ path, bytes }) => [path, bytes])).toEqual([
    ["/mnt/data/a.csv", 1],
    ["/mnt/data/b.csv", 2],
    ["/mnt/data/c.csv", 3],
  ]);
  expect(await (await client.containers.files.content.retrieve(data[0]?.id ?? "", { container_id: id })).text()).toBe(
    "1",
  );
});

test("a form needs a file or the id of one, and nothing else", async () => {
  const { id } = await client.containers.create({ name: "a" });
  const refusal = async (fill: (form: FormData) => void): Promise<unknown> => {
    const form = new FormData();
    fill(form);
    const headers = { authorization: `Bearer ${KEYS.ours}` };
    const reply = await fetch(`${server.url}/v1/containers/${id}/files`, { method: "POST", headers, body: form });
    const { code, param } = (await reply.json()).error;
    return [reply.status, code, param];
  };
  const file = new File(["a"], "a.txt");
  expect(await refusal((form) => form.set("purpose", "x"))).toEqual([400, "missing_required_parameter", "file_id"]);
  expect(await refusal((form) => form.set("file", "text"))).toEqual([400, "invalid_type", "file"]);
  expect(await refusal((form) => form.set("file_id", file))).toEqual([400, "invalid_type", "file_id"]);
  expect(
    await refusal((form) => {
      form.set("file", file);
      form.set("file_id", "file-1");
    }),
  ).toEqual([400, "mutually_exclusive_parameters", null]);
  expect(
    await refusal((form) => {
      form.set("file", file);
      form.set("path", "/etc");
    }),
  ).toEqual([400, "unknown_parameter", "path"]);
  expect(await refusal((form) => form.set("file", file, "x".repeat(1025)))).toEqual([
    400,
    "string_above_max_length",
    "file.filename",
  ]);
  for (const body of [{}, { file_id: 1 }, [], "a"])
    expect((await ask("POST", `/${id}/files`, body)).status, JSON.stringify(body)).toBe(400);
  expect(await errorOf(client.containers.files.create(id, { file_id: "file-0" }))).toEqual({
    status: 404,
    code: "invalid_request_error",
    message: "No such File object: file-0",
    param: "file_id",
  });
});

test("more than a container may hold is refused, and what is in it stays", async () => {
  verifies("containers.limits.bytes-and-files");
  const { id } = await client.containers.create({ name: "a" });
  await put(id, "a", "x".repeat(1_000_000));
  const full = await errorOf(put(id, "b", "x".repeat(100_000)));
  expect(full).toMatchObject({ status: 400, param: "file", message: expect.stringContaining("1048576 bytes") });
  const big = await upload("big", "x".repeat(2_000_000));
  expect(await errorOf(client.containers.create({ name: "b", file_ids: [big] }))).toMatchObject({
    status: 400,
    param: "file_ids",
  });
  expect((await client.containers.files.list(id)).data).toHaveLength(1);
});

test("containers are listed newest first, by name, and page by page", async () => {
  verifies("containers.list.order-and-pages");
  const name = "listed";
  const made: string[] = [];
  for (let count = 0; count < 3; count += 1) made.push((await client.containers.create({ name })).id);
  await client.containers.create({ name: "another" });
  const ids = async (asked: { limit?: number; order?: "asc" | "desc" }): Promise<readonly string[]> => {
    const all = [];
    for await (const { id } of client.containers.list({ name, ...asked })) all.push(id);
    return all;
  };
  expect(await ids({})).toEqual(made.toReversed());
  expect(await ids({ limit: 1, order: "asc" })).toEqual(made);
  const page = await (await ask("GET", `?name=${name}&limit=2`)).json();
  expect(page).toMatchObject({ object: "list", first_id: made[2], last_id: made[1], has_more: true });
  expect((await ask("GET", "?limit=0")).status).toBe(400);
  const { error } = await (await ask("GET", "?after=cntr_x")).json();
  expect(error).toMatchObject({ code: "invalid_value", param: "after" });
  const { id } = await client.containers.create({ name: "files" });
  const files = [await put(id, "a", "a"), await put(id, "b", "b")];
  const listed = [];
  for await (const file of client.containers.files.list(id, { limit: 1 })) listed.push(file);
  expect(listed).toEqual(files.toReversed());
  expect((await ask("GET", `/${id}/files?after=cfile_x`)).status).toBe(400);
});

/** Every call that names a container, and a file in it. */
function callsOn(as: OpenAI, container: string, file: string): Readonly<Record<string, () => Promise<unknown>>> {
  const inContainer = { container_id: container };
  const { containers } = as;
  return {
    get: () => containers.retrieve(container),
    files: () => containers.files.list(container),
    copy: () => containers.files.create(container, { file_id: file }),
    add: async () => await containers.files.create(container, { file: await toFile(Buffer.from("a"), "a") }),
    file: () => containers.files.retrieve(file, inContainer),
    content: () => containers.files.content.retrieve(file, inContainer),
    remove: () => containers.files.delete(file, inContainer),
    delete: () => containers.delete(container),
  };
}

test("on every path, a foreign container is as unknown as one that never was", async () => {
  verifies("containers.get.unknown-is-404", "containers.owner.foreign-is-unknown");
  const { id } = await client.containers.create({ name: "a" });
  const file = await put(id, "a.txt", "a");
  for (const asked of [id, "cntr_x"])
    for (const [name, call] of Object.entries(callsOn(theirs, asked, file.id)))
      expect([name, await errorOf(call())]).toMatchObject([
        name,
        { status: 404, message: `Container with id '${asked}' not found.`, param: null },
      ]);
  expect((await theirs.containers.list()).data).toEqual([]);
  const foreign = await upload("f", "f");
  expect(await errorOf(theirs.containers.create({ name: "a", file_ids: [foreign] }))).toMatchObject({
    status: 404,
    message: `No such File object: ${foreign}`,
    param: "file_ids",
  });
  const own = await theirs.containers.create({ name: "a" });
  expect(await errorOf(theirs.containers.files.create(own.id, { file_id: foreign }))).toMatchObject({
    status: 404,
    message: `No such File object: ${foreign}`,
    param: "file_id",
  });
  expect((await client.containers.files.list(id)).data).toEqual([file]);
  const other = await client.containers.create({ name: "b" });
  expect(await errorOf(client.containers.files.retrieve(file.id, { container_id: other.id }))).toMatchObject({
    status: 404,
  });
});

test("a deleted container is gone, with the bytes of its files", async () => {
  verifies("containers.delete.erases");
  const { id } = await client.containers.create({ name: "a" });
  await put(id, "a.txt", "a");
  const folder = join(server.dataDir, "containers", id);
  expect(readdirSync(folder)).toHaveLength(1);
  const deleted = await ask("DELETE", `/${id}`);
  expect(await deleted.json()).toEqual({ id, object: "container.deleted", deleted: true });
  expect(existsSync(folder)).toBe(false);
  expect(await errorOf(client.containers.retrieve(id))).toMatchObject({ status: 404 });
});

test("a use puts off the expiry, and an expired container is shown but not used", async () => {
  verifies("containers.expiry.idle", "containers.expiry.expired-is-refused");
  const { id } = await client.containers.create({ name: "a" });
  const file = await put(id, "a.txt", "a");
  await makeOld(id, 19 * 60);
  const used = await client.containers.retrieve(id);
  expect(used).toMatchObject({ status: "running" });
  expect(Date.now() / 1000 - (used.last_active_at ?? 0)).toBeLessThan(60);
  await makeOld(id, 20 * 60);
  expect(await client.containers.retrieve(id)).toMatchObject({ status: "expired" });
  const listed = (await client.containers.list({ limit: 100 })).data.find((container) => container.id === id);
  expect(listed?.status).toBe("expired");
  const { get: _get, delete: remove, ...others } = callsOn(client, id, file.id);
  for (const [name, call] of Object.entries(others))
    expect([name, await errorOf(call())]).toMatchObject([name, { status: 400, message: "Container is expired." }]);
  await remove?.();
  expect(await errorOf(client.containers.retrieve(id))).toMatchObject({ status: 404 });
});

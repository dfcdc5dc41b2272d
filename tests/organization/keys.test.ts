import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { silentLogger } from "@antiphon/base/logger.ts";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { makeKey, runKeys } from "../keys/keys-command.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { callWith, newKeyOf } from "./priced-server.ts";

async function call(server: TestServer, method: string, path: string, body?: object): Promise<unknown[]> {
  const reply = await server.fetch(`/v1/organization/${path}`, {
    method,
    headers: { "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return [reply.status, await reply.json()];
}

function adminClient({ url, apiKey }: TestServer): OpenAI {
  return new OpenAI({ adminAPIKey: apiKey, apiKey: "none", baseURL: `${url}/v1`, maxRetries: 0 });
}

async function statusWith(server: TestServer, key: string): Promise<number> {
  const reply = await server.fetch("/v1/models", { headers: { authorization: `Bearer ${key}` } });
  await reply.text();
  return reply.status;
}

describe("an operator's key", () => {
  test("is made, listed, shown and revoked by the official client, and shows its text once", async () => {
    verifies("usage.operators.keys");
    const server = await startTestServer();
    const keys = adminClient(server).admin.organization.adminAPIKeys;
    const made = await keys.create({ name: "ops" });
    expect(made).toMatchObject({
      object: "organization.admin_api_key",
      name: "ops",
      value: expect.stringMatching(/^sk-antiphon-/),
    });
    const { value, ...shown } = made;
    expect(shown.redacted_value).toBe(`sk-…${value.slice(-4)}`);
    expect(await keys.retrieve(made.id)).toEqual(shown);
    const listed = await keys.list();
    expect(listed.data.map(({ id }) => id).toSorted()).toEqual([made.id, "key_first"].toSorted());
    const its = adminClient({ ...server, apiKey: value }).admin.organization.adminAPIKeys;
    expect(await its.delete("key_first")).toEqual({
      id: "key_first",
      object: "organization.admin_api_key.deleted",
      deleted: true,
    });
    expect([await statusWith(server, server.apiKey), await statusWith(server, value)]).toEqual([401, 200]);
  });

  test("cannot be revoked by its door if it is the last one", async () => {
    verifies("usage.operators.last-stays");
    const server = await startTestServer();
    await newKeyOf(server, { is_operator: true, expires_in_seconds: 3600 });
    const { id } = await newKeyOf(server, { is_operator: true });
    expect(await call(server, "DELETE", `keys/${id}`)).toMatchObject([200, { deleted: true }]);
    const [, list] = await call(server, "GET", "admin_api_keys");
    const { data }: { data: readonly { id: string }[] } = Object(list);
    expect(data).toHaveLength(2);
    const other = data.find((key) => key.id !== "key_first")?.id ?? "";
    expect(await call(server, "DELETE", `admin_api_keys/${other}`)).toMatchObject([200, { deleted: true }]);
    for (const path of ["admin_api_keys/key_first", "keys/key_first", "projects/default%2Fdefault/api_keys/key_first"])
      expect(await call(server, "DELETE", path)).toMatchObject([400, { error: { code: "last_operator_key" } }]);
    expect(await statusWith(server, server.apiKey)).toBe(200);
  });

  test("is made by the command keys", async () => {
    verifies("usage.operators.command");
    const server = await startTestServer();
    const [operator, other] = [await makeKey(server.dataDir, "--operator"), await makeKey(server.dataDir)];
    const seen = async (key: string) =>
      (await server.fetch("/v1/organization/keys", { headers: { authorization: `Bearer ${key}` } })).status;
    expect([await seen(operator), await seen(other)]).toEqual([200, 403]);
    const { out } = await runKeys(server.dataDir, "list");
    expect(out.split("\n").find((line) => line.includes(operator.slice(-4)))).toContain("  operator  ");
  });
});

describe("a key of a project", () => {
  test("is listed, shown and revoked by the official client within its project", async () => {
    verifies("usage.operators.project-keys");
    const server = await startTestServer();
    const { id, value } = await newKeyOf(server, { name: "web", projects: ["acme/web", "acme/api"] });
    const keys = adminClient(server).admin.organization.projects.apiKeys;
    for (const project of ["acme/web", "acme/api"]) {
      const { data } = await keys.list(project);
      expect(data).toMatchObject([{ id, name: "web", redacted_value: `sk-…${value.slice(-4)}` }]);
    }
    expect((await keys.list("acme/none")).data).toEqual([]);
    const place = { project_id: "acme/web" };
    expect(await keys.retrieve(id, place)).toMatchObject({ owner: { service_account: { id, role: "member" } } });
    await expect(keys.retrieve("key_first", place)).rejects.toThrow("API key with id 'key_first' not found.");
    expect(await keys.delete(id, place)).toMatchObject({ deleted: true });
    expect(await statusWith(server, value)).toBe(401);
    await expect(keys.retrieve(id, place)).rejects.toThrow("404");
  });
});

describe("a key of this server", () => {
  test("is made with all that the command can give it, renamed and revoked", async () => {
    verifies("usage.operators.own-keys");
    const server = await startTestServer();
    const wish = {
      name: "ci",
      projects: ["acme/web"],
      requests_per_minute: 9,
      tokens_per_minute: 8_000,
      tools: ["web_search"],
      budget: { period: "week", amount: 0.5, tokens: 900 },
      expires_in_seconds: 3_600,
    };
    const { id, value } = await newKeyOf(server, wish);
    const { expires_in_seconds: _, ...same } = wish;
    const known = {
      ...same,
      id,
      object: "key",
      is_operator: false,
      revoked_at: null,
      spending: { amount: 0, tokens: 0 },
    };
    expect(await call(server, "GET", `keys/${id}`)).toMatchObject([200, known]);
    expect(await call(server, "POST", `keys/${id}`, { name: "nightly" })).toMatchObject([
      200,
      { ...known, name: "nightly" },
    ]);
    expect(await call(server, "POST", `keys/${id}`, { budget: null })).toMatchObject([
      200,
      { name: "nightly", budget: null, spending: null },
    ]);
    const reply = await callWith(server, value, "/v1/responses", { model: "antiphon-built-in", input: "Hi" });
    expect([reply.status, reply.headers.get("openai-project")]).toEqual([200, "web"]);
    expect(await call(server, "DELETE", `keys/${id}`)).toEqual([200, { object: "key.deleted", id, deleted: true }]);
    expect(await call(server, "DELETE", `keys/${id}`)).toMatchObject([404, {}]);
    expect(await call(server, "POST", `keys/${id}`, { name: "again" })).toMatchObject([404, {}]);
    expect(await statusWith(server, value)).toBe(401);
    expect(await call(server, "GET", `keys/${id}`)).toMatchObject([200, { revoked_at: expect.any(Number) }]);
    const [, page] = await call(server, "GET", "keys?order=desc&limit=1"); // Keys of one second are sorted by id.
    const { data: first, last_id: last }: { data: readonly { id: string }[]; last_id: string } = Object(page);
    const [, rest] = await call(server, "GET", `keys?order=desc&after=${last}`);
    const { data: others, has_more: hasMore }: { data: readonly { id: string }[]; has_more: boolean } = Object(rest);
    expect([...first, ...others].map((key) => key.id).toSorted()).toEqual([id, "key_first"].toSorted());
    expect([page, hasMore]).toMatchObject([{ has_more: true }, false]);
  });

  test.each([
    [{ name: "" }, "name"],
    [{ name: "two\nlines" }, "name"],
    [{ name: "x", projects: ["acme"] }, "projects[0]"],
    [{ name: "x", tools: ["teleport"] }, "tools[0]"],
    [{ name: "x", budget: { amount: 1 } }, "budget.period"],
    [{ name: "x", budget: { period: "day", amount: 0 } }, "budget.amount"],
    [{ name: "x", owner: "me" }, "owner"],
  ])("is not made of %j", async (body, param) => {
    verifies("usage.operators.own-keys");
    const server = await startTestServer();
    expect(await call(server, "POST", "keys", body)).toMatchObject([400, { error: { param } }]);
    expect(await call(server, "GET", "keys")).toMatchObject([200, { data: [{ id: "key_first" }] }]);
  });

  test("is in no file and no line of the log", async () => {
    verifies("auth.keys.only-hashes-are-kept");
    const lines: string[] = [];
    const note = (fields: object, message: string): void => void lines.push(JSON.stringify([fields, message]));
    const log = { ...silentLogger, trace: note, debug: note, info: note, warn: note, error: note };
    const server = await startTestServer({ log });
    const { value } = await newKeyOf(server, { budget: { period: "day", tokens: 1 } });
    for (const _ of [1, 2])
      await (await callWith(server, value, "/v1/responses", { model: "antiphon-built-in", input: "Hi" })).text();
    expect(lines.length).toBeGreaterThan(1);
    expect(lines.join("\n")).not.toContain(value.slice(12, -4));
    for (const name of await readdir(server.dataDir, { recursive: true })) {
      const content = await readFile(join(server.dataDir, name), "latin1").catch(() => "");
      expect(content, name).not.toContain(value);
    }
  });
});

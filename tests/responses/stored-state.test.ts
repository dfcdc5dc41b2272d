import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Response as ResponseBody } from "@antiphon/contracts/responses-api/types.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { checkCreate, checkReply, codeless, MODEL } from "./check-refusal.ts";
import { readResponse, readStream } from "./read-stream.ts";

const SCENARIO = JSON.stringify({
  scenarios: [
    { when: { input_contains: "dawdle" }, events: [{ text: "Begun" }, { delay_ms: 60_000 }, { text: "Done" }] },
  ],
});

const notFound = (id: string) => codeless(null, `Response with id '${id}' not found.`, 404);

describe("the store", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ scenario: SCENARIO });
  });
  afterAll(() => server.close());

  const create = async (members: object): Promise<ResponseBody> =>
    readResponse(await server.post("/v1/responses", { model: MODEL, input: "Hi", ...members }));

  const checkGone = async ({ id, output }: ResponseBody): Promise<void> => {
    await checkReply(await server.fetch(`/v1/responses/${id}`), notFound(id));
    await checkReply(await server.fetch(`/v1/responses/${id}/input_items`), notFound(id));
    await checkReply(await server.fetch(`/v1/responses/${id}`, { method: "DELETE" }), notFound(id));
    const message = `Previous response with id '${id}' not found.`;
    await checkCreate(
      server,
      { previous_response_id: id },
      { code: "previous_response_not_found", param: "previous_response_id", message },
    );
    const item = output[0]?.id ?? "";
    await checkCreate(
      server,
      { input: [{ type: "item_reference", id: item }] },
      codeless("input", /^Item with id '/, 404),
    );
  };

  test("has nothing of a response with store false, plain or streamed", async () => {
    verifies("state.store.false-leaves-nothing", "create.store.false-cannot-be-fetched");
    const secret = "zyzzyva quokka";
    await checkGone(await create({ store: false, input: `Say ${secret}` }));
    const members = { model: MODEL, input: `Say ${secret}`, store: false, stream: true };
    await checkGone((await readStream(await server.post("/v1/responses", members))).final);
    expect(await filesText(server.dataDir)).not.toContain("zyzzyva");
    await create({ input: `Say ${secret}` });
    expect(await filesText(server.dataDir)).toContain("zyzzyva");
  });

  test("has a response by default, and none of its rows after it is deleted", async () => {
    verifies(
      "create.store.default-true",
      "responses.delete.answers-deleted",
      "responses.delete.then-gone",
      "state.store.delete-removes-rows",
    );
    const response = await create({ input: "Say platypus" });
    expect(rowsText(server.dataDir)).toContain("platypus");
    const fetched = await server.fetch(`/v1/responses/${response.id}`);
    expect(await readResponse(fetched)).toEqual(response);
    const deleted = await server.fetch(`/v1/responses/${response.id}`, { method: "DELETE" });
    expect(deleted.status).toBe(200);
    expect(await deleted.json()).toEqual({ id: response.id, object: "response.deleted", deleted: true });
    await checkGone(response);
    expect(rowsText(server.dataDir)).not.toContain("platypus");
  });

  test("gives the same response on every path", async () => {
    verifies(
      "responses.get.stream-false-is-json",
      "http.query.both-array-spellings",
      "http.query.beta-flag-is-ignored",
    );
    const response = await create({});
    for (const query of [
      "stream=false",
      "include[]=reasoning.encrypted_content",
      "include=reasoning.encrypted_content",
      "beta=true",
    ]) {
      expect(await readResponse(await server.fetch(`/v1/responses/${response.id}?${query}`))).toEqual(response);
    }
  });

  test("gives no event stream on the reference's path unless the response was made in the background", async () => {
    verifies("errors.catalogue.replay-foreground");
    const { id } = await create({});
    const message = "This response cannot be streamed because it was not created with background=true.";
    await checkReply(await server.fetch(`/v1/responses/${id}?stream=true`), codeless("stream", message));
    await checkReply(await server.fetch("/v1/responses/resp_x?stream=true"), notFound("resp_x"));
  });

  test("has a response from its first event on, which ends as cancelled if the client leaves", async () => {
    verifies(
      "responses.get.id-valid-from-created",
      "response.status.foreground-machine",
      "responses.cancel.never-sends-cancelled-event",
    );
    const leaving = new AbortController();
    const body = JSON.stringify({ model: MODEL, input: "dawdle", stream: true });
    const headers = { "content-type": "application/json" };
    const reply = await server.fetch("/v1/responses", { method: "POST", headers, body, signal: leaving.signal });
    const id = await readUntilText(reply);
    const running = await readResponse(await server.fetch(`/v1/responses/${id}`));
    expect(running).toMatchObject({ status: "in_progress", completed_at: null, usage: null, service_tier: "auto" });
    expect(running).not.toHaveProperty("billing");
    leaving.abort();
    const status = async () => (await readResponse(await server.fetch(`/v1/responses/${id}`))).status;
    await expect.poll(status).toBe("cancelled");
    const ended = await readResponse(await server.fetch(`/v1/responses/${id}`));
    expect(ended).toMatchObject({ usage: null, error: null, incomplete_details: null, completed_at: null });
    expect(ended.output).toMatchObject([{ status: "incomplete", content: [{ text: "Begun" }] }]);
  });

  test("stops and deletes a running response that is deleted", async () => {
    const reply = await server.post("/v1/responses", { model: MODEL, input: "dawdle", stream: true });
    const id = await readUntilText(reply);
    expect((await server.fetch(`/v1/responses/${id}`, { method: "DELETE" })).status).toBe(200);
    await checkReply(await server.fetch(`/v1/responses/${id}`), notFound(id));
  });
});

describe("a server restarted on its data", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "antiphon-restart-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("has the same responses, items and key, and the key only as a hash", async () => {
    verifies(
      "state.store.survives-restart",
      "config.key.made-at-first-start",
      "config.key.file-mode-600",
      "config.key.stored-hashed",
      "config.key.second-start-keeps-it",
    );
    const env = { DATA_DIR: folder };
    const first = await startTestServer({ env });
    const response = await readResponse(await first.post("/v1/responses", { model: MODEL, input: "My name is Ada." }));
    const items: unknown = await (await first.fetch(`/v1/responses/${response.id}/input_items`)).json();
    await first.close();

    const key = (await readFile(join(folder, "api-key"), "utf8")).trim();
    expect(key).toBe(first.apiKey);
    expect((await stat(join(folder, "api-key"))).mode & 0o777).toBe(0o600);
    expect(await filesText(folder, "antiphon.db")).not.toContain(key);

    const second = await startTestServer({ env });
    const authorization = `Bearer ${key}`;
    const init = { headers: { authorization, "content-type": "application/json" } };
    expect(await readResponse(await second.fetch(`/v1/responses/${response.id}`, init))).toEqual(response);
    expect(await (await second.fetch(`/v1/responses/${response.id}/input_items`, init)).json()).toEqual(items);
    const body = JSON.stringify({ model: MODEL, input: "What is my name?", previous_response_id: response.id });
    const next = await readResponse(await second.fetch("/v1/responses", { ...init, method: "POST", body }));
    expect(JSON.stringify(next.output)).toContain("Your name is Ada.");
    expect((await readFile(join(folder, "api-key"), "utf8")).trim()).toBe(key);
    await second.close();
  });
});

/** Reads a stream until the first output of the model, and leaves it open. Returns the id of its response. */
async function readUntilText(reply: Response): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  const reader = reply.body?.getReader();
  while (!text.includes("output_text.delta")) {
    const { value, done } = (await reader?.read()) ?? { value: undefined, done: true };
    if (done) throw new Error(`the stream ended early: ${text}`);
    text += decoder.decode(value, { stream: true });
  }
  return /"id":"(resp_[^"]+)"/.exec(text)?.[1] ?? "";
}

/** The bytes, as text, of the files in a folder whose names start with a prefix. */
async function filesText(folder: string, prefix = ""): Promise<string> {
  const names = (await readdir(folder)).filter((name) => name.startsWith(prefix));
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "latin1")));
  return texts.join("\n");
}

/** All rows of the database as one text. */
function rowsText(folder: string): string {
  const database = new DatabaseSync(join(folder, "antiphon.db"), { readOnly: true });
  const tables = database.prepare("select name from sqlite_master where type = 'table'").all();
  const rows = tables.flatMap(({ name }) => database.prepare(`select * from "${name}"`).all());
  database.close();
  return rows
    .flatMap((row) =>
      Object.values(row).map((value) =>
        value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : String(value),
      ),
    )
    .join("\n");
}

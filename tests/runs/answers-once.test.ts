import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ChildServer, startChildServer } from "../kit/child-server.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { formOf } from "../kit/upload.ts";
import { manifest } from "../skills/skill-files.fixture.ts";
import { verifies } from "../verifies.ts";

type Server = Pick<TestServer, "fetch"> | Pick<ChildServer, "fetch">;

function post(server: Server, path: string, body: object, key: string): Promise<Response> {
  const isForm = body instanceof FormData;
  return server.fetch(path, {
    method: "POST",
    headers: { "idempotency-key": key, ...(isForm ? {} : { "content-type": "application/json" }) },
    body: isForm ? body : JSON.stringify(body),
  });
}

async function idOf(reply: Response): Promise<string> {
  return String(Object(await reply.json()).id);
}

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

function textFile(text: string): File {
  return new File([text], "notes.txt", { type: "text/plain" });
}

const MESSAGE = { type: "message", role: "user", content: "Hi" };

/** What an operation needs to have been made before. */
async function makeThings() {
  const made = async (path: string, body: object): Promise<string> => idOf(await server.post(path, body));
  const file = await idOf(
    await post(server, "/v1/files", formOf({ purpose: "user_data", file: textFile("A") }), "file"),
  );
  return {
    file,
    conversation: await made("/v1/conversations", {}),
    store: await made("/v1/vector_stores", {}),
    container: await made("/v1/containers", { name: "work" }),
    skill: await idOf(await post(server, "/v1/skills", skillForm("adding"), "skill")),
  };
}

function skillForm(name: string): FormData {
  return formOf({ files: new File([manifest(name)], "SKILL.md", { type: "text/plain" }) });
}

type Things = Awaited<ReturnType<typeof makeThings>>;

/** Each operation with a body, and another body. */
const OPERATIONS: Readonly<
  Record<
    string,
    (things: Things) => { readonly path: string; readonly body: () => object; readonly other: () => object }
  >
> = {
  createConversation: () => ({
    path: "/v1/conversations",
    body: () => ({ items: [MESSAGE] }),
    other: () => ({ items: [] }),
  }),
  createConversationItems: ({ conversation }) => ({
    path: `/v1/conversations/${conversation}/items`,
    body: () => ({ items: [MESSAGE] }),
    other: () => ({ items: [MESSAGE, MESSAGE] }),
  }),
  compactResponse: () => ({
    path: "/v1/responses/compact",
    body: () => ({ model: "antiphon-built-in", input: "A long talk" }),
    other: () => ({ model: "antiphon-built-in", input: "Another talk" }),
  }),
  createFile: () => ({
    path: "/v1/files",
    body: () => formOf({ purpose: "user_data", file: textFile("The tide rises.") }),
    other: () => formOf({ purpose: "user_data", file: textFile("The tide falls.") }),
  }),
  createVectorStore: () => ({
    path: "/v1/vector_stores",
    body: () => ({ name: "One" }),
    other: () => ({ name: "Two" }),
  }),
  createVectorStoreFile: ({ store, file }) => ({
    path: `/v1/vector_stores/${store}/files`,
    body: () => ({ file_id: file }),
    other: () => ({ file_id: file, attributes: { part: 1 } }),
  }),
  createVectorStoreFileBatch: ({ store, file }) => ({
    path: `/v1/vector_stores/${store}/file_batches`,
    body: () => ({ file_ids: [file] }),
    other: () => ({ file_ids: [file], attributes: { part: 1 } }),
  }),
  createContainer: () => ({
    path: "/v1/containers",
    body: () => ({ name: "One" }),
    other: () => ({ name: "Two" }),
  }),
  createContainerFile: ({ container, file }) => ({
    path: `/v1/containers/${container}/files`,
    body: () => ({ file_id: file }),
    other: () => formOf({ file: textFile("Else") }),
  }),
  createSkill: () => ({ path: "/v1/skills", body: () => skillForm("one"), other: () => skillForm("two") }),
  createSkillVersion: ({ skill }) => ({
    path: `/v1/skills/${skill}/versions`,
    body: () => skillForm("one"),
    other: () => skillForm("two"),
  }),
};

describe("requests with one key", () => {
  test.each(Object.entries(OPERATIONS))("to %s get one answer, at the same time and later", async (name, operation) => {
    verifies("responses.create-keys.other-operations");
    const { path, body, other } = operation(await makeThings());
    const ask = (): Promise<Response> => post(server, path, body(), name);
    const replies = [...(await Promise.all([ask(), ask()])), await ask()];
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(replies.filter(({ headers }) => headers.get("idempotent-replayed") === "true")).toHaveLength(2);
    const [first, ...repeated] = await Promise.all(replies.map((reply) => reply.json()));
    expect(repeated).toEqual([first, first]);
    const refusal = await post(server, path, other(), name);
    expect(refusal.status).toBe(422);
    expect(await refusal.json()).toMatchObject({ error: { code: "idempotency_key_reused" } });
    // Another key makes another.
    expect((await post(server, path, body(), `${name}-2`)).headers.get("idempotent-replayed")).toBeNull();
  });

  test("make one thing, whose number is one", async () => {
    verifies("responses.create-keys.other-operations");
    const own = await startTestServer();
    const ids = await Promise.all(
      Array.from({ length: 8 }, async () => idOf(await post(own, "/v1/vector_stores", { name: "One" }, "k"))),
    );
    expect(new Set(ids).size).toBe(1);
    const { data } = Object(await (await own.fetch("/v1/vector_stores")).json());
    expect(data).toHaveLength(1);
  });

  test("may be tried again after a refusal", async () => {
    verifies("responses.create-keys.refusals-do-not-count");
    const path = "/v1/conversations/conv_0/items";
    expect((await post(server, path, { items: [MESSAGE] }, "refused")).status).toBe(404);
    const conversation = await idOf(await server.post("/v1/conversations", {}));
    const again = await post(server, `/v1/conversations/${conversation}/items`, { items: [MESSAGE] }, "refused");
    expect(again.status).toBe(200);
    expect(again.headers.get("idempotent-replayed")).toBeNull();
    const invalid = await post(server, "/v1/vector_stores", {}, "two words");
    expect(invalid.status).toBe(400);
  });
});

test("an answer survives a kill -9 of its server", async () => {
  verifies("responses.create-keys.survives-crashes");
  const env = { DATA_DIR: temporaryFolder() };
  const killed = await startChildServer({ env });
  const id = await idOf(await post(killed, "/v1/conversations", { items: [MESSAGE] }, "k"));
  await killed.kill();
  const next = await startChildServer({ env });
  const repeated = await post(next, "/v1/conversations", { items: [MESSAGE] }, "k");
  expect(repeated.headers.get("idempotent-replayed")).toBe("true");
  expect(await idOf(repeated)).toBe(id);
});

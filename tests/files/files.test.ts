import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import {
  checkReply,
  codeless,
  missing,
  outOfBounds,
  type Refusal,
  unknown,
  wrongType,
  wrongValue,
} from "../responses/check-refusal.ts";
import { verifies } from "../verifies.ts";
import { idOf, NOTES, type Parts, upload } from "./upload-form.ts";

const PURPOSES = "'assistants', 'batch', 'evals', 'fine-tune', 'user_data', and 'vision'";
const THEIR_KEY = "sk-test-of-another-project-0123456789";
const UPLOAD_BYTES_MAX = 3_000_000;

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    env: {
      API_KEYS: `sk-test-of-one-project-0123456789=org/one,${THEIR_KEY}=org/two`,
      UPLOAD_BYTES_MAX: String(UPLOAD_BYTES_MAX),
    },
  });
});
afterAll(() => server.close());

function theirs(path: string, method = "GET"): Promise<Response> {
  return server.fetch(path, { method, headers: { authorization: `Bearer ${THEIR_KEY}` } });
}

async function storedNames(): Promise<readonly string[]> {
  return readdir(join(server.dataDir, "files"));
}

test("an upload returns the file object, which can be fetched", async () => {
  verifies("files.upload.object-of-the-reference");
  const reply = await upload(server);
  const file: unknown = await reply.json();
  expect(reply.status).toBe(200);
  expect(file).toEqual({
    object: "file",
    id: expect.stringMatching(/^file-/),
    purpose: "user_data",
    filename: "notes.txt",
    bytes: 7,
    created_at: expect.any(Number),
    status: "processed",
  });
  const { id, created_at: createdAt } = Object(file);
  expect(Math.abs(createdAt - Date.now() / 1000)).toBeLessThan(5);
  expect(await (await server.fetch(`/v1/files/${id}`)).json()).toEqual(file);
});

const TWO_HOURS = JSON.stringify({ anchor: "created_at", seconds: 7200 });

test.each([
  ["a text", TWO_HOURS],
  ["a part of JSON", new File([TWO_HOURS], "blob", { type: "application/json" })],
  ["a text with the number in quotes", JSON.stringify({ anchor: "created_at", seconds: "7200" })],
])("expires_after may be %s", async (_what, part) => {
  verifies("files.upload.expiry-as-json-part");
  const reply = await upload(server, { expires_after: part });
  const { created_at: createdAt, expires_at: expiresAt } = Object(await reply.json());
  expect(expiresAt - createdAt).toBe(7200);
});

test.each([
  ["invalid JSON", "{anchor"],
  ["another kind of value", "[7200]"],
  ["an empty text", ""],
  ["a large file", new File(["x".repeat(5000)], "blob", { type: "application/json" })],
  ["a member too many", JSON.stringify({ anchor: "created_at", seconds: 7200, minutes: 3 })],
])("expires_after that is %s is refused by its name", async (_what, part) => {
  verifies("files.upload.expiry-as-json-part");
  const reply = await upload(server, { expires_after: part });
  const { error } = Object(await reply.json());
  expect([reply.status, error.param]).toEqual([400, expect.stringMatching(/^expires_after/)]);
});

test.each([3600, 2_592_000])("a file with expires_after of %i seconds shows its expiry", async (seconds) => {
  verifies("files.upload.object-of-the-reference");
  const reply = await upload(server, { "expires_after[anchor]": "created_at", "expires_after[seconds]": `${seconds}` });
  const { created_at: createdAt, expires_at: expiresAt } = Object(await reply.json());
  expect(expiresAt - createdAt).toBe(seconds);
});

test("a file of the maximum size comes back unchanged, and a larger one is refused", async () => {
  verifies("files.upload.bytes-unchanged", "files.upload.too-large");
  const bytes = Buffer.alloc(UPLOAD_BYTES_MAX, "\0\xff\r\n--x", "latin1");
  const id = await idOf(await upload(server, { file: new File([bytes], "big.bin"), purpose: "batch" }));
  const reply = await server.fetch(`/v1/files/${id}/content`);
  expect(reply.headers.get("content-length")).toBe(String(bytes.length));
  expect(Buffer.from(await reply.arrayBuffer()).equals(bytes)).toBe(true);

  const before = await storedNames();
  for (const more of [1, 5_000_000]) {
    const file = new File([Buffer.alloc(UPLOAD_BYTES_MAX + more)], "too-big.bin");
    await checkReply(await upload(server, { file }), {
      status: 413,
      code: "request_too_large",
      param: null,
      message: `The request body is larger than ${UPLOAD_BYTES_MAX} bytes.`,
    });
  }
  expect(await storedNames()).toEqual(before);
});

describe("an upload is refused", () => {
  const anchor = { "expires_after[anchor]": "created_at" };
  const cases: Readonly<Record<string, readonly [Parts, Refusal]>> = {
    "without a file": [{ file: [] }, missing("file")],
    "with a text in place of the file": [{ file: "text" }, wrongType("file", "a file", "a string")],
    "with two files": [{ file: [NOTES, NOTES] }, wrongType("file", "a file", "an array")],
    "with an empty file": [{ file: new File([], "e.txt") }, codeless("file", "File is empty.")],
    "without a purpose": [{ purpose: [] }, missing("purpose")],
    "with an unknown purpose": [{ purpose: "answers" }, wrongValue("purpose", "answers", PURPOSES)],
    "with a purpose of the server's own": [
      { purpose: "assistants_output" },
      wrongValue("purpose", "assistants_output", PURPOSES),
    ],
    "with two purposes": [
      { purpose: ["vision", "batch"] },
      { code: "invalid_type", param: "purpose", message: /array/ },
    ],
    "with an unknown part": [{ colour: "red" }, unknown("colour")],
    "with an expiry too soon": [
      { ...anchor, "expires_after[seconds]": "3599" },
      outOfBounds(
        "integer_below_min_value",
        "expires_after.seconds",
        "integer below minimum value. Expected a value >= 3600, but got 3599 instead.",
      ),
    ],
    "with an expiry too late": [
      { ...anchor, "expires_after[seconds]": "2592001" },
      { code: "integer_above_max_value", param: "expires_after.seconds", message: /2592000/ },
    ],
    "with an expiry that is no number": [
      { ...anchor, "expires_after[seconds]": "1e9" },
      wrongType("expires_after.seconds", "an integer", "a string"),
    ],
    "with an expiry from elsewhere": [
      { "expires_after[anchor]": "last_active_at", "expires_after[seconds]": "3600" },
      wrongValue("expires_after.anchor", "last_active_at", "'created_at'"),
    ],
    "with an expiry without seconds": [anchor, missing("expires_after.seconds")],
    "with a name too long": [
      { file: new File(["x"], "n".repeat(1025)) },
      { code: "string_above_max_length", param: "file.filename", message: /1024/ },
    ],
  };
  test.each(Object.entries(cases))("%s, and nothing is stored", async (_title, [parts, refusal]) => {
    verifies("files.upload.wrong-parts", "files.upload.empty-file");
    const before = await storedNames().catch(() => []);
    await checkReply(await upload(server, parts), refusal);
    expect(await storedNames().catch(() => [])).toEqual(before);
  });

  test("that is not a form", async () => {
    const reply = await server.post("/v1/files", { purpose: "user_data" });
    expect(reply.status).toBe(415);
  });

  test("that ends too early", async () => {
    const body = '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nhalf';
    const headers = { "content-type": "multipart/form-data; boundary=b" };
    const reply = await server.fetch("/v1/files", { method: "POST", headers, body });
    await checkReply(reply, { code: "invalid_form", param: null, message: /^Invalid form: / });
  });

  test("without a key", async () => {
    const reply = await fetch(`${server.url}/v1/files`, { method: "POST", body: new FormData() });
    expect(reply.status).toBe(401);
  });
});

test("a deleted file is unknown on every path", async () => {
  verifies("files.fetch.unknown");
  const id = await idOf(await upload(server));
  const deleted = await server.fetch(`/v1/files/${id}`, { method: "DELETE" });
  expect([deleted.status, await deleted.json()]).toEqual([200, { id, object: "file", deleted: true }]);
  await checkUnknown((path, method) => server.fetch(path, { method }), id);
  expect(await storedNames()).not.toContain(id);
});

test.each(["file-0", "resp_0", "..%2F..%2Fapi-key", "%00", "x".repeat(1000)])("%s is not a file", async (id) => {
  verifies("files.fetch.unknown");
  await checkUnknown((path, method) => server.fetch(path, { method }), id);
});

test("another project's file gets the same answer as one that never existed", async () => {
  verifies("files.owner.foreign-is-unknown", "state.owner.other-key-gets-404");
  const id = await idOf(await upload(server));
  await checkUnknown(theirs, id);
  const list: unknown = await (await theirs("/v1/files")).json();
  expect(list).toEqual({ object: "list", data: [], first_id: null, has_more: false, last_id: null });
  await checkReply(await theirs(`/v1/files?after=${id}`), cursorUnknown(id));
  expect((await server.fetch(`/v1/files/${id}`)).status).toBe(200);
});

type Call = (path: string, method: string) => Promise<Response>;

async function checkUnknown(call: Call, id: string): Promise<void> {
  const refusal = codeless("id", `No such File object: ${decodeURIComponent(id)}`, 404);
  await checkReply(await call(`/v1/files/${id}`, "GET"), refusal);
  await checkReply(await call(`/v1/files/${id}/content`, "GET"), refusal);
  await checkReply(await call(`/v1/files/${id}`, "DELETE"), refusal);
}

function cursorUnknown(id: string): Refusal {
  return {
    code: "invalid_value",
    param: "after",
    message: `Invalid 'after': '${id}'. No item of this list has that ID.`,
  };
}

test.each([
  ["limit=0", "integer_below_min_value", "limit"],
  ["limit=10001", "integer_above_max_value", "limit"],
  ["limit=x", "invalid_type", "limit"],
  ["order=up", "invalid_value", "order"],
  ["after=file-unknown", "invalid_value", "after"],
])("a list with %s is refused", async (query, code, param) => {
  verifies("files.list.order-and-pages");
  await checkReply(await server.fetch(`/v1/files?${query}`), { code, param, message: /./ });
});

test.each([
  ["plain.txt", `attachment; filename="plain.txt"; filename*=UTF-8''plain.txt`],
  ['a "b" ü\n.html', `attachment; filename="a _b_ __.html"; filename*=UTF-8''a%20%22b%22%20%C3%BC%0A.html`],
  ["it's (1)*.txt", `attachment; filename="it's (1)*.txt"; filename*=UTF-8''it%27s%20%281%29%2A.txt`],
])("the content of %j is an attachment", async (filename, disposition) => {
  verifies("files.content.always-an-attachment");
  const file = new File(["<script>"], filename, { type: "text/html" });
  const id = await idOf(await upload(server, { file }));
  const reply = await server.fetch(`/v1/files/${id}/content`);
  expect(reply.headers.get("content-disposition")).toBe(disposition);
  expect(reply.headers.get("content-type")).toBe("application/octet-stream");
  expect(reply.headers.get("x-content-type-options")).toBe("nosniff");
  expect(await reply.text()).toBe("<script>");
});

test("files are unchanged after a restart", async () => {
  verifies("files.storage.survives-restart");
  const folder = temporaryFolder();
  const env = { DATA_DIR: folder, API_KEYS: "sk-test-restart-0123456789" };
  const before = await startTestServer({ env });
  const file: unknown = await (await upload(before)).json();
  await before.close();
  const after = await startTestServer({ env });
  const { id } = Object(file);
  expect(await (await after.fetch(`/v1/files/${id}`)).json()).toEqual(file);
  expect(await (await after.fetch(`/v1/files/${id}/content`)).text()).toBe("one two");
});

import { expect, test } from "vitest";
import { startTestServer } from "../kit/test-server.ts";
import { onPostgres, query } from "../kit/tested-store.ts";
import { namedFile, uploadFile } from "../kit/upload.ts";
import { checkReply, MODEL } from "../responses/check-refusal.ts";
import { readResponse } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";

/** PostgreSQL adds changes to the sum later, so that writers do not wait for each other. */
const USAGE = onPostgres
  ? "(select project, bytes from owner_usage union all select project, bytes from owner_usage_changes) as counted"
  : "owner_usage";

const [OURS, OTHERS] = ["sk-ours-0123456789abcdef01234567", "sk-others-0123456789abcdef012345"];
const OWNER_BYTES_MAX = 50_000;
const LONG = "x".repeat(20_000);
const FULL = {
  status: 429,
  type: "insufficient_quota",
  code: "insufficient_quota",
  param: null,
  message: /stored as much as it may: 50000 bytes/,
};

async function serve() {
  const server = await startTestServer({
    env: { API_KEYS: `${OURS}=acme/web,${OTHERS}=acme/other`, OWNER_BYTES_MAX: String(OWNER_BYTES_MAX) },
    scenario: JSON.stringify({ scenarios: [{ when: { input_contains: "x" }, events: [{ text: "Well." }] }] }),
  });
  const call = (path: string, body: object, key = OURS) =>
    server.fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
    });
  const create = (members: object = {}, key = OURS) =>
    call("/v1/responses", { model: MODEL, input: LONG, ...members }, key);
  const upload = (bytes: number) => {
    return uploadFile(server, namedFile("x".repeat(bytes), "a.txt"));
  };
  const counted = async () =>
    Number(
      (await query(server.dataDir, `select sum(bytes) as bytes from ${USAGE} where project = 'web'`))[0]?.["bytes"],
    );
  return { server, call, create, upload, counted };
}

test("an owner at its storage limit is refused new data, and can do everything else", async () => {
  verifies("state.quota.per-owner");
  const { server, call, create, upload } = await serve();
  const { id } = await readResponse(await create());
  const file = await (await upload(15_000)).json();
  expect(file).toMatchObject({ bytes: 15_000 });
  await checkReply(await upload(20_000), FULL);
  expect(await (await server.fetch("/v1/files")).json()).toMatchObject({ data: [{ id: file.id }] });
  await readResponse(await create()); // There is some room left, and a started response is finished.
  const refused = await create({ stream: true });
  expect(refused.headers.get("x-should-retry")).toBe("false");
  await checkReply(refused, FULL);
  await checkReply(await create({ background: true }), FULL);
  const items = [{ role: "user", content: LONG }];
  await checkReply(await call("/v1/conversations", { items }), FULL);
  expect((await create({ store: false })).status).toBe(200);
  expect((await create({}, OTHERS)).status).toBe(200);
  expect((await server.fetch(`/v1/responses/${id}`)).status).toBe(200);
  expect((await server.fetch(`/v1/files/${file.id}`, { method: "DELETE" })).status).toBe(200);
  expect((await create({ input: "x" })).status).toBe(200);
});

test("the count equals the stored bytes after any additions, changes and deletions", async () => {
  verifies("state.quota.per-owner");
  const { server, call, create, upload, counted } = await serve();
  const conversation = await (await call("/v1/conversations", { items: [{ role: "user", content: "x" }] })).json();
  await readResponse(await create({ input: "x", conversation: conversation.id }));
  const gone = await readResponse(await create({ input: "x" }));
  const file = await (await upload(1_000)).json();
  await server.fetch(`/v1/responses/${gone.id}`, { method: "DELETE" });
  const [stored] = await query(
    server.dataDir,
    `select (select sum(octet_length(body)) from responses) + (select sum(octet_length(body)) from items)
      + (select sum(octet_length(body)) from conversation_items) as bytes`,
  );
  expect(await counted()).toBe(Number(stored?.["bytes"]) + 1_000);
  await server.fetch(`/v1/files/${file.id}`, { method: "DELETE" });
  expect(await counted()).toBe(Number(stored?.["bytes"]));
});

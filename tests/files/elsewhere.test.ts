import { randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { silentLogger } from "@antiphon/base/logger.ts";
import OpenAI, { toFile } from "openai";
import { expect, test } from "vitest";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { whyNoPostgres } from "../services/postgres-server.ts";
import { type S3Server, startS3Server } from "../services/s3-server.ts";
import { databaseOfTest } from "../services/services-of-run.ts";

const API_KEY = "sk-files-elsewhere-0123456789";
const LARGE = randomBytes(11_000_000);

function bucketSettings(s3: S3Server): Readonly<Record<string, string>> {
  return {
    FILES_URL: `s3://${s3.bucket}/antiphon`,
    S3_ENDPOINT: s3.endpoint,
    S3_REGION: s3.region,
    AWS_ACCESS_KEY_ID: s3.accessKeyId,
    AWS_SECRET_ACCESS_KEY: s3.secretAccessKey,
  };
}

interface Node extends TestServer {
  readonly client: OpenAI;
}

/** Servers with a data folder each, and one database. */
async function startNodes(count: number, env: Readonly<Record<string, string>>): Promise<readonly Node[]> {
  const database = env["DATABASE_URL"] === undefined ? { DATABASE_FILE: join(temporaryFolder(), "antiphon.db") } : {};
  const nodes: Node[] = [];
  for (let started = 0; started < count; started++) {
    const server = await startTestServer({
      env: { API_KEYS: API_KEY, ...database, SEAL_KEYS: "ab".repeat(32), ...env },
      log: silentLogger,
    });
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: API_KEY, maxRetries: 0 });
    nodes.push({ ...server, client });
  }
  return nodes;
}

async function startTwo(env: Readonly<Record<string, string>>): Promise<readonly [Node, Node]> {
  const [one, other] = await startNodes(2, env);
  if (one === undefined || other === undefined) throw new Error("two servers were started");
  return [one, other];
}

async function uploadTo({ client }: Node, bytes: Buffer): Promise<string> {
  return (await client.files.create({ file: await toFile(bytes, "data.bin"), purpose: "user_data" })).id;
}

async function downloadFrom({ client }: Node, id: string): Promise<Buffer> {
  return Buffer.from(await (await client.files.content(id)).arrayBuffer());
}

function statusOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => 200,
    (error: unknown) => (error instanceof OpenAI.APIError ? error.status : error),
  );
}

async function places(): Promise<readonly (readonly [string, Readonly<Record<string, string>>])[]> {
  const folder = temporaryFolder();
  return [
    ["a bucket", bucketSettings(await startS3Server())],
    ["a shared folder", { FILES_URL: pathToFileURL(folder).href }],
  ];
}

test("servers with one database and one place for files serve each other's files", async () => {
  for (const [name, env] of await places()) {
    const [one, other] = await startTwo(env);
    const id = await uploadTo(one, LARGE);
    expect((await downloadFrom(other, id)).equals(LARGE), name).toBe(true);
    expect(await readdir(join(one.dataDir, "files"))).toEqual([]);
    await other.client.files.delete(id);
    expect(await statusOf(one.client.files.content(id))).toBe(404);
  }
});

test("servers with one database and one place for files serve each other's containers", async () => {
  for (const [name, env] of await places()) {
    const [one, other] = await startTwo(env);
    const upload = await uploadTo(one, Buffer.from("1,2"));
    const { id } = await other.client.containers.create({ name: "work", file_ids: [upload] });
    await one.client.containers.files.create(id, { file: await toFile(Buffer.from("3,4"), "more.csv") });
    const files = await Array.fromAsync(await other.client.containers.files.list(id, { order: "asc" }));
    const texts = await Promise.all(
      files.map(async (file) =>
        (await one.client.containers.files.content.retrieve(file.id, { container_id: id })).text(),
      ),
    );
    expect(texts, name).toEqual(["1,2", "3,4"]);
    await other.client.containers.delete(id);
    expect(await statusOf(one.client.containers.retrieve(id))).toBe(404);
  }
});

test.skipIf(whyNoPostgres() !== undefined)(
  "servers on PostgreSQL serve each other's files and containers",
  async () => {
    const s3 = await startS3Server();
    const [one, other] = await startTwo({ ...bucketSettings(s3), DATABASE_URL: await databaseOfTest() });
    const upload = await uploadTo(one, LARGE);
    expect((await downloadFrom(other, upload)).equals(LARGE)).toBe(true);
    const { id } = await other.client.containers.create({ name: "work", file_ids: [upload] });
    const [file] = await Array.fromAsync(await one.client.containers.files.list(id));
    const content = await one.client.containers.files.content.retrieve(file?.id ?? "", { container_id: id });
    expect(Buffer.from(await content.arrayBuffer()).equals(LARGE)).toBe(true);
    await one.client.containers.delete(id);
    await other.client.files.delete(upload);
    expect([s3.objects.size, await statusOf(one.client.files.retrieve(upload))]).toEqual([0, 404]);
  },
);

test("a bucket has the bytes of nothing that was deleted", async () => {
  const s3 = await startS3Server();
  const [one, other] = await startTwo(bucketSettings(s3));
  const upload = await uploadTo(one, Buffer.from("1,2"));
  const { id } = await one.client.containers.create({ name: "work", file_ids: [upload] });
  expect([...s3.objects.keys()]).toEqual([
    `antiphon/files/${upload}`,
    expect.stringMatching(new RegExp(`^antiphon/containers/${id}/cfile_`)),
  ]);
  await other.client.containers.delete(id);
  await other.client.files.delete(upload);
  expect(s3.objects.size).toBe(0);
});

test("while the bucket is away, what needs files gets 503 and everything else goes on", async () => {
  const s3 = await startS3Server();
  const [one] = await startTwo(bucketSettings(s3));
  const id = await uploadTo(one, Buffer.from("one"));
  const unwanted = await uploadTo(one, Buffer.from("two"));
  await s3.goAway();
  const refused = await one.fetch(`/v1/files/${id}/content`);
  expect([refused.status, Number(refused.headers.get("retry-after"))]).toEqual([503, expect.any(Number)]);
  expect(await refused.json()).toMatchObject({
    error: { code: "server_is_overloaded", message: "The storage of files does not answer. Please retry in a moment." },
  });
  expect(await statusOf(uploadTo(one, Buffer.from("three")))).toBe(503);
  const input = [{ role: "user", content: [{ type: "input_file", file_id: id }] }];
  expect((await one.post("/v1/responses", { model: "antiphon-built-in", input })).status).toBe(503);
  expect((await one.post("/v1/responses", { model: "antiphon-built-in", input: "hello" })).status).toBe(200);
  expect((await one.fetch("/readyz")).status).toBe(200);
  expect(await statusOf(one.client.files.delete(unwanted))).toBe(200);
  expect(await statusOf(one.client.files.retrieve(unwanted))).toBe(404);
  const listed = await Array.fromAsync(await one.client.files.list());
  expect(listed.map((file) => file.id)).toEqual([id]);
  await s3.comeBack();
  expect((await downloadFrom(one, id)).toString()).toBe("one");
  expect((await downloadFrom(one, await uploadTo(one, LARGE))).equals(LARGE)).toBe(true);
});

test("a server starts while the bucket is away, and not with a bucket that refuses it", async () => {
  const s3 = await startS3Server();
  const settings = bucketSettings(s3);
  const wrong = { ...settings, AWS_SECRET_ACCESS_KEY: "another-secret-0123456789" };
  const refusal = await startNodes(1, wrong).catch(String);
  expect(refusal).toContain("FILES_URL cannot be used: the file storage refused PUT: 403 SignatureDoesNotMatch.");
  expect(refusal).not.toContain("another-secret");
  await s3.goAway();
  const [one] = await startTwo(settings);
  await s3.comeBack();
  expect((await downloadFrom(one, await uploadTo(one, Buffer.from("one")))).toString()).toBe("one");
});

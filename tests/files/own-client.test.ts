import { afterAll, beforeAll, expect, test } from "vitest";
import { Antiphon } from "../../packages/client/src/index.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";

let server: TestServer;
let client: Antiphon;
beforeAll(async () => {
  server = await startTestServer();
  client = new Antiphon({ baseUrl: server.url, apiKey: server.apiKey });
});
afterAll(() => server.close());

test("the published client uploads, lists, reads and deletes files", async () => {
  verifies("files.upload.bytes-unchanged", "files.list.order-and-pages");
  const bytes = Buffer.alloc(100_000, "0123456789");
  const upload = { bytes, filename: "digits.txt", mimeType: "text/plain" };
  const expiry = { anchor: "created_at", seconds: 7200 } as const;
  const file = await client.createFile({ file: upload, purpose: "user_data", expires_after: expiry });
  expect(file).toMatchObject({ filename: "digits.txt", bytes: bytes.length, expires_at: file.created_at + 7200 });
  expect(await client.getFile(file.id)).toEqual(file);
  expect((await client.listFiles({ purpose: "user_data", limit: 1 })).data).toEqual([file]);
  expect(Buffer.from(await client.downloadFile(file.id)).equals(bytes)).toBe(true);
  expect(await client.deleteFile(file.id)).toEqual({ id: file.id, object: "file", deleted: true });
  await expect(client.getFile(file.id)).rejects.toThrow(`No such File object: ${file.id}`);
});

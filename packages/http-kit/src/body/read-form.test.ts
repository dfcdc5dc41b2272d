import { readdirSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { isRecord } from "@antiphon/base/json/records.ts";
import { ByteBudget } from "@antiphon/base/limits/byte-budget.ts";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../tests/kit/temporary-folder.ts";
import type { OperationRequest, UploadedFile } from "../handler.ts";
import { connectTo, type Sample, startSample, until } from "../http/sample-interface.fixture.ts";
import type { TransportOptions } from "../options.ts";

interface Uploads extends Sample {
  /** The received bodies, with the content of each file in place of `read`. */
  readonly bodies: readonly unknown[];
}

async function startUploads(options: Partial<TransportOptions> = {}): Promise<Uploads> {
  const bodies: unknown[] = [];
  const keep = async ({ body }: OperationRequest) => {
    const entries = Object.entries(isRecord(body) ? body : {}).map(async ([name, part]) => [name, await shown(part)]);
    bodies.push(Object.fromEntries(await Promise.all(entries)));
    return { status: 204 };
  };
  const sample = await startSample({ options: { fileBytesMax: 1000, ...options }, handlers: { upload: keep } });
  return { ...sample, bodies };
}

/** Reads a file twice, because a handler may. */
async function shown(part: unknown): Promise<unknown> {
  if (Array.isArray(part)) return Promise.all(part.map(shown));
  if (!isUploadedFile(part)) return part;
  const { filename, mimeType, size } = part;
  const content = Buffer.concat(await Array.fromAsync(part.read()));
  expect(Buffer.concat(await Array.fromAsync(part.read()))).toEqual(content);
  return { filename, mimeType, size, content };
}

function isUploadedFile(part: unknown): part is UploadedFile {
  return isRecord(part) && typeof part["read"] === "function";
}

function formOf(parts: Record<string, string | Blob>): FormData {
  const form = new FormData();
  for (const [name, part] of Object.entries(parts)) form.append(name, part);
  return form;
}

function upload({ url }: Sample, body: BodyInit, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${url}/v1/upload`, { method: "POST", body, headers });
}

test("a form's fields and files arrive by name", async () => {
  const sample = await startUploads();
  const form = formOf({
    instruction: "ü",
    audio: new File([new Uint8Array([0, 255])], "sökg.wav", { type: "audio/wav" }),
  });
  expect((await upload(sample, form)).status).toBe(204);
  expect(sample.bodies).toEqual([
    {
      instruction: "ü",
      audio: { filename: "sökg.wav", mimeType: "audio/wav", content: Buffer.from([0, 255]), size: 2 },
    },
  ]);
});

test("a repeated name makes a list", async () => {
  const sample = await startUploads();
  const form = new FormData();
  form.append("audio", new File(["a"], "a"));
  form.append("audio", new File(["b"], "b"));
  await upload(sample, form);
  expect(sample.bodies).toMatchObject([{ audio: [{ filename: "a" }, { filename: "b" }] }]);
});

test.each([1001, 3 * 1024 * 1024])("a file of %i bytes is too large", async (bytes) => {
  const reply = await upload(await startUploads(), formOf({ audio: new File(["x".repeat(bytes)], "a") }));
  expect([reply.status, await reply.json()]).toMatchObject([413, { error: { code: "body_too_large" } }]);
});

test.each([
  [
    "a form that ends too soon",
    "--b\r\nContent-Disposition: form-data; name=a\r\n\r\n1",
    "multipart/form-data; boundary=b",
    400,
  ],
  ["a form without a boundary", "--b--", "multipart/form-data", 400],
  ["a body that is no form", "{}", "application/json", 415],
])("%s is refused", async (_what, body, contentType, status) => {
  expect((await upload(await startUploads(), body, { "content-type": contentType })).status).toBe(status);
});

test("a form with too many parts is refused", async () => {
  const form = formOf(Object.fromEntries(Array.from({ length: 70 }, (_, n) => [`part${n}`, "x"])));
  expect((await upload(await startUploads(), form)).status).toBe(400);
});

test("a bracketed name makes an object of fields", async () => {
  const sample = await startUploads();
  await upload(sample, formOf({ "expires_after[anchor]": "created_at", "expires_after[seconds]": "3600" }));
  expect(sample.bodies).toEqual([{ expires_after: { anchor: "created_at", seconds: "3600" } }]);
});

test.each(["a[b][c]", "a[65]"])("a field named %s is refused", async (name) => {
  expect((await upload(await startUploads(), formOf({ [name]: "x" }))).status).toBe(400);
});

test.each(["disk", "memory"])(
  "a compressed form is read into %s, and refused if it unpacks beyond the limit",
  async (place) => {
    const sample = await startUploads(place === "disk" ? { uploadFolder: temporaryFolder() } : {});
    const send = async (content: string): Promise<number> => {
      const form = new Request("http://here", { method: "POST", body: formOf({ audio: new File([content], "a") }) });
      const type = form.headers.get("content-type") ?? "";
      const body = gzipSync(Buffer.from(await form.arrayBuffer()));
      return (await upload(sample, body, { "content-type": type, "content-encoding": "gzip" })).status;
    };
    expect(await send("x".repeat(1000))).toBe(204);
    expect(sample.bodies).toMatchObject([{ audio: { size: 1000, content: Buffer.alloc(1000, "x") } }]);
    expect(await send("x".repeat(5 * 1024 * 1024))).toBe(413);
  },
);

test("bytes that are not what their encoding says are refused", async () => {
  const headers = { "content-type": "multipart/form-data; boundary=b", "content-encoding": "gzip" };
  expect((await upload(await startUploads(), "not gzip", headers)).status).toBe(400);
});

test("files on disk are read unchanged, and leave nothing behind", async () => {
  const folder = temporaryFolder();
  const sample = await startUploads({ uploadFolder: folder });
  const form = formOf({ audio: new File(["one"], "a"), text: "t", empty: new File([], "e") });
  expect((await upload(sample, form)).status).toBe(204);
  expect(sample.bodies).toMatchObject([
    { audio: { size: 3, content: Buffer.from("one") }, text: "t", empty: { size: 0, content: Buffer.alloc(0) } },
  ]);
  expect((await upload(sample, formOf({ audio: new File(["x".repeat(1001)], "a") }))).status).toBe(413);
  expect(readdirSync(folder)).toEqual([]);
});

test("an upload whose client leaves leaves nothing on disk", async () => {
  const folder = temporaryFolder();
  const sample = await startUploads({ uploadFolder: folder });
  const socket = connectTo(sample);
  socket.write("POST /v1/upload HTTP/1.1\r\nhost: h\r\ncontent-type: multipart/form-data; boundary=b\r\n");
  socket.write("content-length: 900\r\n\r\n--b\r\ncontent-disposition: form-data; name=a; filename=a\r\n\r\nhalf");
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(readdirSync(folder)).toEqual([]); // The file has no name, even while it arrives.
  socket.destroy();
  await until(() => sample.log.some(({ message }) => message === "request"));
  expect((await upload(sample, formOf({ audio: new File(["next"], "a") }))).status).toBe(204);
});

test("bytes of a form in memory count until its request ends, and bytes on disk do not", async () => {
  const audio = new File([new Uint8Array(600_000)], "a.wav");
  for (const [uploadFolder, status] of [
    [null, 503],
    [temporaryFolder(), 204],
  ] as const) {
    const incoming = new ByteBudget(400_000);
    const sample = await startUploads({ incoming, uploadFolder, fileBytesMax: 1_000_000 });
    expect((await upload(sample, formOf({ audio }))).status).toBe(status);
    expect((await upload(sample, formOf({ text: "x".repeat(500_000) }))).status).toBe(503);
    expect((await upload(sample, formOf({ text: "x".repeat(300_000) }))).status).toBe(204);
    expect(incoming.heldBytes).toBe(0);
  }
});

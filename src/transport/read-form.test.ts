import { expect, test } from "vitest";
import type { OperationRequest } from "./handler.ts";
import { type Sample, startSample } from "./sample-interface.fixture.ts";

async function startUploads(): Promise<Sample & { readonly bodies: readonly unknown[] }> {
  const bodies: unknown[] = [];
  const keep = async ({ body }: OperationRequest) => {
    bodies.push(body);
    return { status: 204 };
  };
  return { ...(await startSample({ options: { fileBytesMax: 1000 }, handlers: { upload: keep } })), bodies };
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
    { instruction: "ü", audio: { filename: "sökg.wav", mimeType: "audio/wav", bytes: Buffer.from([0, 255]), size: 2 } },
  ]);
});

test("a name that comes twice makes a list", async () => {
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

test("a form of too many parts is refused", async () => {
  const form = formOf(Object.fromEntries(Array.from({ length: 70 }, (_, n) => [`part${n}`, "x"])));
  expect((await upload(await startUploads(), form)).status).toBe(400);
});

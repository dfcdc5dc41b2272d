import { createHash } from "node:crypto";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../../../tests/kit/temporary-folder.ts";
import { type PackedModel, unpackModel } from "./packed-model.ts";

const BYTES = Buffer.from("weights ".repeat(1000));

async function packed(file: Buffer): Promise<{ readonly model: PackedModel; readonly folder: string }> {
  const folder = temporaryFolder();
  const path = join(folder, "small.bin.gz");
  await writeFile(path, file);
  const sha256 = createHash("sha256").update(BYTES).digest("hex");
  return { model: { name: "small", path, bytes: BYTES.length, sha256, words: 3 }, folder: join(folder, "models") };
}

test("a model is unpacked under its name, and no other file is left", async () => {
  const { model, folder } = await packed(gzipSync(BYTES));
  const path = await unpackModel(model, folder);
  expect(path).toBe(join(folder, "ggml-small.bin"));
  expect(await readFile(path)).toEqual(BYTES);
  expect(await readdir(folder)).toEqual(["ggml-small.bin"]);
});

test("a damaged file is unpacked again, and an intact file is left unchanged", async () => {
  const { model, folder } = await packed(gzipSync(BYTES));
  const path = await unpackModel(model, folder);
  await writeFile(path, BYTES.subarray(1));
  await unpackModel(model, folder);
  expect(await readFile(path)).toEqual(BYTES);
  await rm(model.path);
  expect(await unpackModel(model, folder)).toBe(path);
});

test.each([
  { what: "is not packed", file: BYTES, message: /cannot be unpacked$/ },
  { what: "is cut off", file: gzipSync(BYTES).subarray(0, 30), message: /cannot be unpacked$/ },
  { what: "holds something else", file: gzipSync(Buffer.from("others")), message: /is damaged$/ },
  { what: "holds more", file: gzipSync(Buffer.concat([BYTES, BYTES])), message: /cannot be unpacked$/ },
])("a packed model that $what is rejected", async ({ file, message }) => {
  const { model, folder } = await packed(file);
  await expect(unpackModel(model, folder)).rejects.toThrow(message);
  expect(await readdir(folder).catch(() => [])).toEqual([]);
});

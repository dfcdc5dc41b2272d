import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../tests/kit/temporary-folder.ts";
import { readFrames, redoFrameOf } from "./frames.ts";
import { RedoFolders, redoFolder, workerFolder } from "./redo-folders.ts";
import { RedoWriter } from "./redo-writer.ts";

const WORKER = 7;

function aDatabase(): string {
  return join(temporaryFolder(), "antiphon.db");
}

function writerOf(file: string): RedoWriter {
  return new RedoWriter(redoFolder(file), WORKER);
}

const lastSegment = (file: string): string => {
  const folder = workerFolder(redoFolder(file), WORKER);
  return join(folder, readdirSync(folder).toSorted().at(-1) ?? "");
};

test("frames read back as they were written, and a cut at any byte leaves the whole ones before it", () => {
  const texts = fc.array(fc.string({ unit: "binary", minLength: 1, maxLength: 60 }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(texts, fc.nat(), (written, at) => {
      const wellFormed = written.map((text) => text.toWellFormed());
      const frames = wellFormed.map((text) => Buffer.from(redoFrameOf(text, Buffer.alloc(50))));
      const all = Buffer.concat(frames);
      expect(readFrames(all).map(({ text }) => text)).toEqual(wellFormed);
      const cut = at % all.length;
      const whole = frames.filter((_frame, place) => Buffer.concat(frames.slice(0, place + 1)).length <= cut);
      expect(readFrames(all.subarray(0, cut))).toHaveLength(whole.length);
    }),
  );
});

test("a changed byte ends the log before its frame", () => {
  const frames = ["one", "two", "three"].map((text) => Buffer.from(redoFrameOf(text, Buffer.alloc(50))));
  const all = Buffer.concat(frames);
  const second = frames[0]?.length ?? 0;
  for (let at = second; at < second + (frames[1]?.length ?? 0); at += 1) {
    const damaged = Buffer.from(all);
    damaged[at] = (damaged[at] ?? 0) ^ 1;
    expect(readFrames(damaged)[0]?.text).toBe("one");
    expect(readFrames(damaged).map(({ text }) => text)).not.toContain("two");
  }
});

test("the changes after a position are read, over all segments, and the log is sealed by it", () => {
  const file = aDatabase();
  const writer = writerOf(file);
  const large = "x".repeat(300_000);
  const spans = Array.from({ length: 40 }, (_, place) => writer.append(`${place} ${large}`));
  expect(readdirSync(workerFolder(redoFolder(file), WORKER)).length).toBeGreaterThan(2);
  const folders = new RedoFolders(file);
  expect(folders.endOf(WORKER)).toBe(spans.at(-1)?.end);
  const from = spans[24]?.end ?? 0;
  const numbers = folders.read(WORKER, from).map((text) => Number(text.split(" ")[0]));
  expect(numbers).toEqual(Array.from({ length: 15 }, (_, place) => 25 + place));
  expect(() => {
    for (let round = 0; round < 20; round += 1) writer.append(large); // Its next segment has no folder any more.
  }).toThrow(/ENOENT/);
  expect(folders.read(WORKER, from)).toHaveLength(15 + writtenAfter(file));
  folders.remove(WORKER);
  expect(folders.list()).toEqual([]);
});

/** How many frames a paused writer still wrote into its sealed segment. */
function writtenAfter(file: string): number {
  const sealed = `${workerFolder(redoFolder(file), WORKER)}.sealed`;
  const last = readdirSync(sealed).toSorted().at(-1) ?? "";
  return readFrames(readFileSync(join(sealed, last))).filter(({ text }) => text.startsWith("x")).length;
}

test("segments that are stored are removed, the current one stays", async () => {
  const file = aDatabase();
  const writer = writerOf(file);
  const spans = Array.from({ length: 40 }, () => writer.append("x".repeat(300_000)));
  writer.release(spans.at(-1)?.end ?? 0);
  await expect.poll(() => readdirSync(workerFolder(redoFolder(file), WORKER))).toHaveLength(1);
  expect(new RedoFolders(file).read(WORKER, spans[38]?.end ?? 0)).toHaveLength(1);
});

test("what a process wrote when it died is cut off, whatever it is", () => {
  for (const rest of [
    Buffer.from([1]),
    Buffer.alloc(4_096),
    Buffer.from(redoFrameOf("torn", Buffer.alloc(50))).subarray(0, 9),
  ]) {
    const file = aDatabase();
    writerOf(file).append("whole");
    appendFileSync(lastSegment(file), rest);
    expect(new RedoFolders(file).read(WORKER, 0)).toEqual(["whole"]);
  }
});

test("after a damaged segment nothing is read, because what follows would leave a gap", () => {
  const file = aDatabase();
  const writer = writerOf(file);
  for (let place = 0; place < 40; place += 1) writer.append(`${place} ${"x".repeat(300_000)}`);
  const folder = workerFolder(redoFolder(file), WORKER);
  const [first = ""] = readdirSync(folder).toSorted();
  truncateSync(join(folder, first), readFileSync(join(folder, first)).length - 1);
  const numbers = new RedoFolders(file).read(WORKER, 0).map((text) => Number(text.split(" ")[0]));
  expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, place) => place));
  expect(numbers.length).toBeLessThan(15);
});

test("a log that is half taken over is read again from its sealed folder", () => {
  const file = aDatabase();
  writerOf(file).append("change");
  const folder = workerFolder(redoFolder(file), WORKER);
  renameSync(folder, `${folder}.sealed`);
  expect(new RedoFolders(file).read(WORKER, 0)).toEqual(["change"]);
  expect(new RedoFolders(file).read(WORKER, 0)).toEqual(["change"]);
});

test("other files in the folder of the logs are not taken for logs", () => {
  const file = aDatabase();
  mkdirSync(redoFolder(file));
  writeFileSync(join(redoFolder(file), "README"), "");
  expect(new RedoFolders(file).list()).toEqual([]);
  expect(new RedoFolders(file).endOf(WORKER)).toBe(0);
  expect(existsSync(workerFolder(redoFolder(file), WORKER))).toBe(false);
});

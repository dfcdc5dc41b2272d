import { expect, test } from "vitest";
import { isContainerPath, ownPathOfUpload, pathOfUpload } from "./container-path.ts";

test.each([
  ["sales.csv", "sales.csv"],
  ["../../etc/passwd", "passwd"],
  ["C:\\data\\sales.csv", "sales.csv"],
  ["/", "file"],
  ["", "file"],
  ["..", "file"],
  ["a\u0000b\n.txt", "a_b_.txt"],
  ["Übersicht 2026.csv", "Übersicht 2026.csv"],
  ["half \ud800.txt", "half \ufffd.txt"],
])("a file that a client names %j lies in /mnt/data as %j", (filename, name) => {
  expect(pathOfUpload(filename)).toBe(`/mnt/data/${name}`);
  expect(isContainerPath(pathOfUpload(filename))).toBe(true);
});

test("a name that is too long is cut before its extension, between two characters", () => {
  const path = ownPathOfUpload(`${"ü".repeat(1000)}.csv`, "file-1");
  expect(path).toBe(`/mnt/data/file-1-${"ü".repeat(88)}.csv`);
  expect(pathOfUpload("x".repeat(1000))).toBe(`/mnt/data/${"x".repeat(180)}`);
});

test.each([
  ["/mnt/data/chart.png", true],
  ["/mnt/data/deep/down/chart.png", true],
  ["/mnt/data/", false],
  ["/mnt/data", false],
  ["/mnt/database/chart.png", false],
  ["/mnt/data/../chart.png", false],
  ["/mnt/data/a/./chart.png", false],
  ["/mnt/data//chart.png", false],
  ["/mnt/data/a\u0000.png", false],
  ["/mnt/data/\ud800.png", false],
  ["chart.png", false],
  [`/mnt/data/${"x".repeat(256)}`, false],
  [`/mnt/data/${"x/".repeat(2100)}x`, false],
])("whether a file of a container can lie at %j: %j", (path, can) => {
  expect(isContainerPath(path)).toBe(can);
});

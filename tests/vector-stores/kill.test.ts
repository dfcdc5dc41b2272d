import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { startChildServer } from "../kit/child-server.ts";
import { memoryOf } from "../kit/processes.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { docxOf, paragraph } from "../responses/office-samples.ts";
import { createStore, search, takeIn, takenIn, textOf, upload } from "./store-client.ts";

const MEGABYTE = 1024 * 1024;

test("files that a killed server was taking in are whole after the next start, and there once", async () => {
  const dataDir = temporaryFolder();
  const first = await startChildServer({ env: { DATA_DIR: dataDir } });
  const texts = Array.from({ length: 12 }, (_, file) =>
    Array.from({ length: 4000 }, (_unused, line) => `File ${file} tells of marvel${line} here.`).join("\n"),
  );
  const ids: string[] = [];
  for (const [index, text] of texts.entries()) ids.push(await upload(first, `${index}.txt`, text));
  const storeId = await createStore(first, ids);
  for (let server = first, life = 0; life < 3; life++) {
    await sleep(life === 0 ? 1_500 : 700);
    await server.kill();
    server = await startChildServer({ env: { DATA_DIR: dataDir } });
    if (life < 2) continue;
    const { file_counts: counts } = await takenIn(server, storeId);
    expect(counts).toEqual({ in_progress: 0, completed: 12, failed: 0, cancelled: 0, total: 12 });
    for (const [index, id] of ids.entries()) expect(await textOf(server, storeId, id)).toBe(texts[index]);
    const found = await search(server, storeId, "marvel1234");
    expect(found.length).toBe(10);
  }
});

test("memory stays bounded while long lines and zip bombs are taken in", async () => {
  const server = await startChildServer();
  await takeIn(server, "a.txt", "The fox jumps.");
  const before = (await memoryOf(server.pid)).residentBytes;
  const line = await takeIn(server, "line.txt", "x".repeat(50 * MEGABYTE));
  expect(line.file.status === "completed" || line.file.last_error?.message.includes("tokens")).toBe(true);
  const bomb = await takeIn(server, "bomb.docx", docxOf(paragraph(" ".repeat(300 * MEGABYTE))));
  expect(bomb.file.last_error).toMatchObject({ code: "invalid_file" });
  const growth = (await memoryOf(server.pid)).peakBytes - before;
  expect(growth).toBeLessThan(600 * MEGABYTE);
});

import { setTimeout as sleep } from "node:timers/promises";
import { openStore } from "../../open-store.ts";
import { OURS } from "../../stored-shapes.fixture.ts";

/**
 * A process that starts writing a file into the store with the options of its first argument, prints a line once bytes
 * are on the disk, and never ends.
 */
async function* neverEnding(): AsyncGenerator<Uint8Array> {
  yield Buffer.alloc(1024);
  yield Buffer.alloc(1024);
  process.stdout.write("half written\n"); // The store requests a third piece, so it has written the first two.
  for (;;) await sleep(1000);
}

const { files } = await openStore(JSON.parse(process.argv[2] ?? ""));
await files.createFile(OURS, {
  purpose: "user_data",
  filename: "endless.txt",
  mimeType: "text/plain",
  content: neverEnding(),
  expiresAfter: null,
});

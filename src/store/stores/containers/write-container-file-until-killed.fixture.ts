import { setTimeout as sleep } from "node:timers/promises";
import { openStore } from "../../open-store.ts";
import { OURS } from "../../stored-shapes.fixture.ts";

/**
 * A process that starts writing a file into a container, prints a line once bytes are on the disk, and never ends.
 * Arguments: the options of the store and the id of the container.
 */
async function* neverEnding(): AsyncGenerator<Uint8Array> {
  yield Buffer.alloc(1024);
  yield Buffer.alloc(1024);
  process.stdout.write("half written\n"); // The store requests a third piece, so it has written the first two.
  for (;;) await sleep(1000);
}

const [, , options = "", containerId = ""] = process.argv;
const { containers } = await openStore(JSON.parse(options));
await containers.addFile(OURS, containerId, { filename: "endless.txt", content: neverEnding() });

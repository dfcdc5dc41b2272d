/**
 * The child that runs a language model: loads the file, listens on its socket, and says on its output how it stands.
 * Native code runs here and in no other process of ours, because a failed check in it ends the process it is in.
 */
import type { Server } from "node:http";
import { readOwnJson } from "@antiphon/base/json/read-json.ts";
import { Slots } from "./answer/slots.ts";
import { CHILD_LINE, type ChildMessage, type ChildOptions } from "./child-options.ts";
import { createService } from "./http-service.ts";
import { loadModel } from "./load-model.ts";
import { ModelRefused } from "./load-model-file.ts";
import { loadVectorModel } from "./vectors/load-vector-model.ts";
import { createVectorService } from "./vectors/vector-service.ts";

const PROGRESS_STEP = 0.05;
const REFUSED_EXIT_CODE = 3;

const options = readOwnJson<ChildOptions>(process.argv[2] ?? "{}");

function say(message: ChildMessage): void {
  console.log(CHILD_LINE + JSON.stringify(message));
}

let toldShare = 0;

function tellProgress(share: number): void {
  if (share < toldShare + PROGRESS_STEP) return;
  toldShare = share;
  say({ type: "progress", share });
}

/** The service of the file, and what is said of it once it listens. */
async function open(): Promise<{ readonly server: Server; readonly ready: ChildMessage }> {
  if (options.work === "vectors") {
    const model = await loadVectorModel(options, tellProgress);
    const { window, names } = model;
    return { server: createVectorService(model), ready: { type: "ready", model: names[0], window, notes: [] } };
  }
  const { runtime, notes } = await loadModel(options, tellProgress);
  const { window, names } = runtime;
  const server = createService({ runtime, slots: new Slots(runtime.sequences, options.queueMax) });
  return { server, ready: { type: "ready", model: names[0], window, notes } };
}

try {
  const { server, ready } = await open();
  server.listen(options.socketPath, () => say(ready));
} catch (error) {
  if (!(error instanceof ModelRefused)) throw error;
  say({ type: "refused", message: error.message });
  process.exitCode = REFUSED_EXIT_CODE;
  setImmediate(() => process.exit());
}

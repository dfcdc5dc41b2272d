/**
 * The child that runs a language model: loads the file, listens on its socket, and says on its output how it stands.
 * Native code runs here and in no other process of ours, because a failed check in it ends the process it is in.
 */
import { readOwnJson } from "@antiphon/base/json/read-json.ts";
import { Slots } from "./answer/slots.ts";
import { CHILD_LINE, type ChildMessage, type ChildOptions } from "./child-options.ts";
import { createService } from "./http-service.ts";
import { loadModel, ModelRefused } from "./load-model.ts";

const PROGRESS_STEP = 0.05;
const REFUSED_EXIT_CODE = 3;

const options = readOwnJson<ChildOptions>(process.argv[2] ?? "{}");

function say(message: ChildMessage): void {
  console.log(CHILD_LINE + JSON.stringify(message));
}

let toldShare = 0;
try {
  const { runtime, notes } = await loadModel(options, (share) => {
    if (share < toldShare + PROGRESS_STEP) return;
    toldShare = share;
    say({ type: "progress", share });
  });
  const slots = new Slots(runtime.sequences, options.queueMax);
  createService({ runtime, slots }).listen(options.socketPath, () => {
    say({ type: "ready", model: runtime.names[0], window: runtime.window, notes });
  });
} catch (error) {
  if (!(error instanceof ModelRefused)) throw error;
  say({ type: "refused", message: error.message });
  process.exitCode = REFUSED_EXIT_CODE;
  setImmediate(() => process.exit());
}

/** The thread of the model. It tells that it has started, and ends when it gets a text with the word "poison". */
import { BroadcastChannel, parentPort } from "node:worker_threads";
import type { EncodeRequest } from "./model-messages.ts";

await import("./model-worker.ts");
const starts = new BroadcastChannel("starts of the embedding model's thread");
starts.postMessage("started");
starts.close();
parentPort?.on("message", ({ text }: EncodeRequest) => {
  if (text.includes("poison")) process.exit(7);
});

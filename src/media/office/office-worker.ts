import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { isRecord } from "../../base/json/records.ts";
import type { OfficeTask } from "./office-outcome.ts";
import { readOffice } from "./read-office.ts";

function isTask(value: unknown): value is OfficeTask {
  return isRecord(value) && value["bytes"] instanceof Uint8Array && typeof value["charactersMax"] === "number";
}

async function tell(port: MessagePort, known: OfficeTask): Promise<void> {
  port.postMessage(await readOffice(known));
}

const task: unknown = workerData;
if (parentPort !== null && isTask(task)) await tell(parentPort, task);

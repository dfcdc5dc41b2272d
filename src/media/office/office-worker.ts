import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { isRecord } from "../../base/json/records.ts";
import { Archive } from "./archive.ts";
import { readContentTypes } from "./content-types.ts";
import { type OfficeOutcome, type OfficeTask, ReadingEnded } from "./office-outcome.ts";
import { readDocument } from "./read-document.ts";
import { readWorkbook } from "./read-workbook.ts";
import { TextSink } from "./text-sink.ts";

function isTask(value: unknown): value is OfficeTask {
  return isRecord(value) && value["bytes"] instanceof Uint8Array && typeof value["charactersMax"] === "number";
}

async function post(port: MessagePort, known: OfficeTask): Promise<void> {
  port.postMessage(await readOffice(known));
}

/** Reads the text of a docx document or xlsx workbook. Never throws, because a document may hold anything. */
async function readOffice({ bytes, charactersMax }: OfficeTask): Promise<OfficeOutcome> {
  const sink = new TextSink(charactersMax);
  try {
    const archive = await Archive.open(bytes);
    if (!archive.has("[Content_Types].xml")) return { type: "other" };
    const parts = await readContentTypes(archive);
    if (parts.has("document")) await readDocument(archive, parts, sink);
    else if (parts.has("workbook")) await readWorkbook(archive, parts, sink);
    else return { type: "other" };
    return { type: "text", text: sink.text };
  } catch (error) {
    return error instanceof ReadingEnded ? error.outcome : { type: "broken" };
  }
}

const task: unknown = workerData;
if (parentPort !== null && isTask(task)) await post(parentPort, task);

import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { isRecord } from "@antiphon/base/json/records.ts";
import { Archive } from "./archive.ts";
import { readContentTypes } from "./content-types.ts";
import { type OfficeOutcome, type OfficeTask, ReadingEnded } from "./office-outcome.ts";
import { isBook, readBook } from "./read-book.ts";
import { readDocument } from "./read-document.ts";
import { isOpenDocument, readOpenDocument } from "./read-open-document.ts";
import { readPresentation } from "./read-presentation.ts";
import { readWorkbook } from "./read-workbook.ts";
import { TextSink } from "./text-sink.ts";

function isOfficeTask(value: unknown): value is OfficeTask {
  return isRecord(value) && value["bytes"] instanceof Uint8Array && typeof value["charactersMax"] === "number";
}

async function post(port: MessagePort, task: OfficeTask): Promise<void> {
  port.postMessage(await readOffice(task));
}

/** Reads the text of a document. Never throws, because a document may hold anything. */
async function readOffice({ bytes, charactersMax }: OfficeTask): Promise<OfficeOutcome> {
  const sink = new TextSink(charactersMax);
  try {
    const archive = await Archive.open(bytes);
    const kind = await readKnown(archive, sink);
    return kind === "other" ? { type: "other" } : { type: "text", text: sink.text, isWorkbook: kind === "workbook" };
  } catch (error) {
    return error instanceof ReadingEnded ? error.outcome : { type: "broken" };
  }
}

type Kind = "workbook" | "document" | "other";

async function readKnown(archive: Archive, sink: TextSink): Promise<Kind> {
  if (isBook(archive)) await readBook(archive, sink);
  else if (await isOpenDocument(archive)) await readOpenDocument(archive, sink);
  else return archive.has("[Content_Types].xml") ? await readOffice2007(archive, sink) : "other";
  return "document";
}

async function readOffice2007(archive: Archive, sink: TextSink): Promise<Kind> {
  const parts = await readContentTypes(archive);
  const presentation = parts.get("presentation");
  if (parts.has("document")) await readDocument(archive, parts, sink);
  else if (parts.has("workbook")) await readWorkbook(archive, parts, sink);
  else if (presentation !== undefined) await readPresentation(archive, presentation, sink);
  else return "other";
  return parts.has("document") || !parts.has("workbook") ? "document" : "workbook";
}

const task: unknown = workerData;
if (parentPort !== null && isOfficeTask(task)) await post(parentPort, task);

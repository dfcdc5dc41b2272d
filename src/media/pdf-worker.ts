import { parentPort, workerData } from "node:worker_threads";
import { getDocumentProxy } from "unpdf";
import { isRecord } from "../base/records.ts";
import type { PdfOutcome, PdfTask } from "./pdf-outcome.ts";

/** No honest page needs one piece of memory as large; what is packed to burst does. */
const ALLOCATION_BYTES_MAX = 64 * 1024 * 1024;

type Document = Awaited<ReturnType<typeof getDocumentProxy>>;

let isTooCostly = false;

/** Pieces of memory beside the heap do not count towards the limits of a worker, so that each is limited here. */
function limitAllocations(): void {
  const construct = (target: Uint8ArrayConstructor, args: unknown[], newTarget: NewableFunction): object => {
    const [size] = args;
    if (typeof size === "number" && size > ALLOCATION_BYTES_MAX) {
      isTooCostly = true; // The parser may swallow what is thrown.
      throw new RangeError("too much memory at once");
    }
    return Reflect.construct(target, args, newTarget);
  };
  Object.defineProperty(globalThis, "Uint8Array", { value: new Proxy(Uint8Array, { construct }) });
}

async function read({ bytes, pagesMax, charactersMax }: PdfTask): Promise<PdfOutcome> {
  let isUnmapped = false;
  class NoMaps {
    async fetch({ kind }: { kind: string }): Promise<never> {
      if (kind === "cMapUrl") isUnmapped = true;
      throw new Error("nothing is fetched");
    }
  }
  const document = await getDocumentProxy(bytes, { verbosity: 0, BinaryDataFactory: NoMaps, stopAtErrors: false });
  const pages = document.numPages;
  if (pages > pagesMax) return { type: "too_many_pages", pages };
  const texts: string[] = [];
  let characters = 0;
  for (let number = 1; number <= pages; number++) {
    const text = await readPage(document, number);
    characters += text.length;
    if (characters > charactersMax) return { type: "too_many_characters" };
    texts.push(text);
  }
  if (isTooCostly) return { type: "too_costly" };
  if (isUnmapped) return { type: "unmapped" };
  return { type: "text", text: texts.join("\n\n").trim(), pages };
}

async function readPage(document: Document, number: number): Promise<string> {
  const page = await document.getPage(number);
  const { items } = await page.getTextContent();
  page.cleanup();
  return items.map((item) => ("str" in item ? `${item.str}${item.hasEOL ? "\n" : ""}` : "")).join("");
}

function failure(error: unknown): PdfOutcome {
  const name = error instanceof Error ? error.name : "";
  if (isTooCostly) return { type: "too_costly" };
  return { type: name === "PasswordException" ? "encrypted" : "broken" };
}

function isTask(value: unknown): value is PdfTask {
  return isRecord(value) && value["bytes"] instanceof Uint8Array;
}

const task: unknown = workerData;
if (parentPort !== null && isTask(task)) {
  limitAllocations();
  // oxlint-disable-next-line require-post-message-target-origin -- threads have no origins
  parentPort.postMessage(await read(task).catch(failure));
}

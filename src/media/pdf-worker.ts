import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { getDocumentProxy } from "unpdf";
import { isRecord } from "../base/json/records.ts";
import type { PdfOutcome, PdfTask } from "./pdf-outcome.ts";

/** No honest page needs one piece of memory as large; what is packed to burst does. */
const ALLOCATION_BYTES_MAX = 64 * 1024 * 1024;
/** All pieces together. */
const MEMORY_BYTES_MAX = 512 * 1024 * 1024;
/** So much is taken between two looks at all of it. */
const UNCHECKED_BYTES_MAX = 16 * 1024 * 1024;

type Document = Awaited<ReturnType<typeof getDocumentProxy>>;

/**
 * Memory beside the heap does not count towards the limits of a worker, so that it is limited here: that of arrays, and
 * that of what is unpacked.
 */
function limitMemory(port: MessagePort): void {
  let uncheckedBytes = 0;
  const isTooMuch = (size: number): boolean => {
    if (size > ALLOCATION_BYTES_MAX) return true;
    uncheckedBytes += size;
    if (uncheckedBytes < UNCHECKED_BYTES_MAX) return false;
    uncheckedBytes = 0;
    return process.memoryUsage().arrayBuffers > MEMORY_BYTES_MAX;
  };
  const take = (size: number): void => {
    if (!isTooMuch(size)) return;
    tell(port, { type: "too_costly" }); // At once: the parser may swallow what is thrown, and go on.
    throw new RangeError("too much memory");
  };
  limitArrays(take);
  limitUnpacking(take);
}

function limitArrays(take: (size: number) => void): void {
  const construct = (target: Uint8ArrayConstructor, args: unknown[], newTarget: NewableFunction): object => {
    const [size] = args;
    if (typeof size === "number") take(size);
    return Reflect.construct(target, args, newTarget);
  };
  Object.defineProperty(globalThis, "Uint8Array", { value: new Proxy(Uint8Array, { construct }) });
}

function limitUnpacking(take: (size: number) => void): void {
  const Unlimited = DecompressionStream;
  class LimitedDecompressionStream {
    readonly readable: ReadableStream<Uint8Array>;
    readonly writable: DecompressionStream["writable"];

    constructor(format: ConstructorParameters<typeof DecompressionStream>[0]) {
      const { readable, writable } = new Unlimited(format);
      this.readable = readable.pipeThrough(counter());
      this.writable = writable;
    }
  }
  const counter = () =>
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller): void {
        take(chunk.byteLength);
        controller.enqueue(chunk);
      },
    });
  Object.defineProperty(globalThis, "DecompressionStream", { value: LimitedDecompressionStream });
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
  return { type: name === "PasswordException" ? "encrypted" : "broken" };
}

function isTask(value: unknown): value is PdfTask {
  return isRecord(value) && value["bytes"] instanceof Uint8Array;
}

/** Only what is told first counts. */
function tell(port: MessagePort, outcome: PdfOutcome): void {
  port.postMessage(outcome);
}

const task: unknown = workerData;
if (parentPort !== null && isTask(task)) {
  limitMemory(parentPort);
  tell(parentPort, await read(task).catch(failure));
}

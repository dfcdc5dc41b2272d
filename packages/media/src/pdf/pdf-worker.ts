import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { isRecord } from "@antiphon/base/json/records.ts";
import { getDocumentProxy } from "unpdf";
import type { PdfOutcome, PdfTask } from "./pdf-outcome.ts";

/** Limit of one allocation. Real pages need less; decompression bombs need more. */
const ALLOCATION_BYTES_MAX = 64 * 1024 * 1024;
/** Limit of all allocations together. */
const MEMORY_BYTES_MAX = 512 * 1024 * 1024;
/** The total is checked each time this much was allocated. */
const UNCHECKED_BYTES_MAX = 16 * 1024 * 1024;

type Document = Awaited<ReturnType<typeof getDocumentProxy>>;

/** Limits the memory of arrays and of decompressed data, because the limits of a worker count only the heap. */
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
    post(port, { type: "too_costly" }); // Before the throw, because the parser may catch the error and continue.
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

function isPdfTask(value: unknown): value is PdfTask {
  return isRecord(value) && value["bytes"] instanceof Uint8Array;
}

/** The reader uses the first outcome only. */
function post(port: MessagePort, outcome: PdfOutcome): void {
  port.postMessage(outcome);
}

const task: unknown = workerData;
if (parentPort !== null && isPdfTask(task)) {
  limitMemory(parentPort);
  post(parentPort, await read(task).catch(failure));
}

import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { isRecord } from "@antiphon/base/json/records.ts";
import { getDocumentProxy } from "unpdf";
import { joinPages, type PageLine } from "./join-pages.ts";
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
  const lines: (readonly PageLine[])[] = [];
  let characters = 0;
  for (let number = 1; number <= pages; number++) {
    const page = await readPage(document, number);
    for (const { text } of page) characters += text.length + 1;
    if (characters > charactersMax) return { type: "too_many_characters" };
    lines.push(page);
  }
  if (isUnmapped) return { type: "unmapped" };
  return { type: "text", ...joinPages(lines), title: await readTitle(document), pages };
}

async function readPage(document: Document, number: number): Promise<readonly PageLine[]> {
  const page = await document.getPage(number);
  const { items } = await page.getTextContent();
  page.cleanup();
  const lines: PageLine[] = [];
  let line = new OpenLine();
  for (const item of items) {
    if (!("str" in item)) continue;
    line.add(item.str, item.transform);
    if (!item.hasEOL) continue;
    lines.push(line.end());
    line = new OpenLine();
  }
  return line.isEmpty ? lines : [...lines, line.end()];
}

/** A line that is being read. */
class OpenLine {
  #text = "";
  #y = 0;
  readonly #sizes = new Map<number, number>();

  get isEmpty(): boolean {
    return this.#text === "";
  }

  /** `transform`: the matrix of the text, by which its letters are scaled and moved. */
  add(text: string, transform: readonly unknown[]): void {
    const [, , skew, scale, , y] = transform.map(Number);
    const size = Math.hypot(skew ?? 0, scale ?? 0);
    if (this.isEmpty) this.#y = y ?? 0;
    this.#text += text;
    if (/\S/.test(text)) this.#sizes.set(size, (this.#sizes.get(size) ?? 0) + text.length);
  }

  end(): PageLine {
    const [size = 0] = [...this.#sizes].toSorted(([, one], [, other]) => other - one)[0] ?? [];
    return { text: this.#text, size, y: this.#y };
  }
}

const TITLE_CHARACTERS_MAX = 300;
/** Names that programs give to what has no title. */
const NO_TITLE = /^(untitled|microsoft \w+ - .*|.*\.(docx?|pptx?|xlsx?|pdf|tex|dvi|indd|qxd))$/i;

async function readTitle(document: Document): Promise<string | null> {
  const { info } = await document.getMetadata();
  const title: unknown = isRecord(info) ? info["Title"] : null;
  if (typeof title !== "string" || NO_TITLE.test(title.trim())) return null;
  return title.trim().slice(0, TITLE_CHARACTERS_MAX) || null;
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

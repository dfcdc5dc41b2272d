import { progressBar } from "../speech-progress.ts";

/** Where progress is shown. */
export interface FetchOutput {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

const MEGABYTE = 1_000_000;
const CLEAR_LINE = "\r\u001B[2K";
const PRINT_EVERY_MS = 200;
/** Without a terminal, such as in a log. */
const LOG_EVERY_MS = 10_000;

/** A bar on one line of a terminal, with the speed and the time left; a line every ten seconds without one. */
export function fetchProgress(output: FetchOutput): (receivedBytes: number, totalBytes: number | null) => void {
  let printedAt = 0;
  let start: { readonly bytes: number; readonly atMs: number } | null = null;
  return (receivedBytes, totalBytes) => {
    const nowMs = Date.now();
    start ??= { bytes: receivedBytes, atMs: nowMs };
    const isOver = receivedBytes === totalBytes;
    const every = output.isTTY === true ? PRINT_EVERY_MS : LOG_EVERY_MS;
    if (!isOver && nowMs - printedAt < every) return;
    if (output.isTTY !== true && (printedAt === 0 || isOver)) return void (printedAt = nowMs); // Short ones are silent.
    printedAt = nowMs;
    const perSecond = ((receivedBytes - start.bytes) * 1000) / Math.max(1, nowMs - start.atMs);
    const line = lineText(receivedBytes, totalBytes, perSecond);
    output.write(output.isTTY === true ? `${CLEAR_LINE}${line}${isOver ? "\n" : ""}` : `${line}\n`);
  };
}

function lineText(receivedBytes: number, totalBytes: number | null, perSecond: number): string {
  const speed = perSecond > 0 ? `, ${megabytesText(perSecond)} MB/s` : "";
  if (totalBytes === null) return `${megabytesText(receivedBytes)} MB${speed}`;
  const share = progressBar(Math.floor((receivedBytes / totalBytes) * 100));
  const secondsLeft = perSecond > 0 ? Math.ceil((totalBytes - receivedBytes) / perSecond) : 0;
  const remainder = secondsLeft > 0 ? `, ${secondsLeft} s left` : "";
  return `${share}  ${megabytesText(receivedBytes)} of ${megabytesText(totalBytes)} MB${speed}${remainder}`;
}

export function megabytesText(bytes: number): string {
  return String(Math.round(bytes / MEGABYTE));
}

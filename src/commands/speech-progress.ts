import { type EngineStatus, type SpeechEngine, transcriptWarning } from "@antiphon/speech/recognition/speech-engine.ts";

/** A terminal, or a stream that is none. */
export interface ProgressOutput {
  readonly isTTY?: boolean;
  /** Width of the terminal; undefined if it is unknown. */
  readonly columns?: number;
  write(text: string): unknown;
}

const BAR_WIDTH = 24;
const COLUMNS_ASSUMED = 79;
const MEGABYTE = 1_000_000;
const CLEAR_LINE = "\r\u001B[2K";

/**
 * Shows the progress of building, downloading and loading on one line of a terminal, until the engine is ready or has
 * failed. Without a terminal, only a failure is printed.
 */
export function showSpeechProgress(engine: SpeechEngine, output: ProgressOutput): void {
  const draw = (status: EngineStatus): void => {
    const isOver = status.state === "ready" || status.state === "demo" || status.state === "failed";
    const line = progressLine(status, engine.facts().model);
    const isTold = output.isTTY === true || status.state === "failed" || status.state === "demo";
    if (isTold) showLine(output, line, isOver);
    if (isOver) stop();
  };
  const stop = engine.watch(draw);
  draw(engine.status());
}

/** Replaces the last line of a terminal. Other outputs get only the line that is the last. */
export function showLine(output: ProgressOutput, line: string, isLast: boolean): void {
  if (output.isTTY === true) output.write(`${CLEAR_LINE}${isLast ? `${line}\n` : line.slice(0, widthOf(output))}`);
  else if (isLast) output.write(`${line}\n`);
}

/** Keeps the line shorter than the terminal: a wrapped line cannot be cleared, so each update would add a line. */
function widthOf({ columns }: ProgressOutput): number {
  return columns === undefined || columns <= 1 ? COLUMNS_ASSUMED : columns - 1;
}

/** For example `Downloading speech model base.en  [########----------------]  33 %  49 of 148 MB`. */
export function progressLine(status: EngineStatus, model: string | null): string {
  const subject = `speech model ${model ?? ""}`.trimEnd();
  switch (status.state) {
    case "building":
      return `Building the speech engine, once  ${progressBar(status.percent)}`;
    case "downloading":
      return `Downloading ${subject}  ${progressBar(percentOf(status))}  ${megabytes(status.receivedBytes)} of ${status.totalBytes === null ? "?" : megabytes(status.totalBytes)} MB`;
    case "loading":
      return `Loading ${subject}`;
    case "ready":
      return `The ${subject} is ready`;
    case "demo":
      return `${transcriptWarning(status) ?? ""} ${status.reason}.`;
    case "failed":
      return `Speech is unavailable: ${status.reason}.`;
  }
}

function percentOf({ receivedBytes, totalBytes }: { receivedBytes: number; totalBytes: number | null }): number | null {
  return totalBytes === null || totalBytes === 0 ? null : Math.floor((receivedBytes / totalBytes) * 100);
}

/** For example `[########----------------]   33 %`. Null is an unknown share. */
export function progressBar(percent: number | null): string {
  if (percent === null) return `[${"-".repeat(BAR_WIDTH)}]`;
  const fill = Math.round((percent / 100) * BAR_WIDTH);
  return `[${"#".repeat(fill)}${"-".repeat(BAR_WIDTH - fill)}]  ${String(percent).padStart(3)} %`;
}

function megabytes(bytes: number): string {
  return String(Math.round(bytes / MEGABYTE));
}

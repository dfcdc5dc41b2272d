import type { EngineStatus, SpeechEngine } from "../speech/speech-engine.ts";

interface Terminal {
  write(text: string): unknown;
}

const BAR_WIDTH = 24;
const MEGABYTE = 1_000_000;
const CLEAR_LINE = "\r\u001B[2K";

/** Shows on one line of a terminal how far building, downloading and loading are, until the engine is ready or has failed. */
export function showSpeechProgress(engine: SpeechEngine, terminal: Terminal): void {
  const draw = (status: EngineStatus): void => {
    terminal.write(`${CLEAR_LINE}${progressLine(status, engine.facts().model)}`);
    if (status.state !== "ready" && status.state !== "failed") return;
    terminal.write("\n");
    stop();
  };
  const stop = engine.watch(draw);
  draw(engine.status());
}

/** Such as `Speech model base.en  [########----------------]  33 %  49 of 148 MB`. */
export function progressLine(status: EngineStatus, model: string | null): string {
  const subject = `Speech model ${model ?? ""}`.trimEnd();
  switch (status.state) {
    case "building":
      return `Speech engine is built, once  ${bar(status.percent)}`;
    case "downloading":
      return `${subject} is downloaded  ${bar(percentOf(status))}  ${megabytes(status.receivedBytes)} of ${status.totalBytes === null ? "?" : megabytes(status.totalBytes)} MB`;
    case "loading":
      return `${subject} is loaded`;
    case "ready":
      return status.notice === undefined ? `${subject} is ready` : `${status.notice}.`;
    case "failed":
      return `There is no speech: ${status.reason}.`;
  }
}

function percentOf({ receivedBytes, totalBytes }: { receivedBytes: number; totalBytes: number | null }): number | null {
  return totalBytes === null || totalBytes === 0 ? null : Math.floor((receivedBytes / totalBytes) * 100);
}

function bar(percent: number | null): string {
  if (percent === null) return `[${"-".repeat(BAR_WIDTH)}]`;
  const done = Math.round((percent / 100) * BAR_WIDTH);
  return `[${"#".repeat(done)}${"-".repeat(BAR_WIDTH - done)}]  ${String(percent).padStart(3)} %`;
}

function megabytes(bytes: number): string {
  return String(Math.round(bytes / MEGABYTE));
}

import { setText } from "./elements.ts";

const STEP_MS = 200;

/** Shows how long something has run, as minutes and seconds. */
export class Timer {
  readonly #element: HTMLElement;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(element: HTMLElement) {
    this.#element = element;
  }

  start(): void {
    this.stop();
    const startedAt = performance.now();
    const show = (): void => setText(this.#element, clockOf(performance.now() - startedAt));
    show();
    this.#timer = setInterval(show, STEP_MS);
  }

  /** Keeps showing the time so far. */
  stop(): void {
    clearInterval(this.#timer);
  }
}

function clockOf(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

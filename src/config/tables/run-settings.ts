import type { Setting } from "../setting.ts";

/** Limits on responses that nobody waits for. */
export const RUN_SETTINGS = {
  backgroundRunsMax: {
    name: "BACKGROUND_RUNS_MAX",
    section: "Limits",
    kind: "integer",
    default: 100,
    min: 1,
    max: 1_000_000,
    text: "Most background responses in progress at the same time. Further ones wait in a queue.",
  },
  batchLinesMax: {
    name: "BATCH_LINES_MAX",
    section: "Limits",
    kind: "integer",
    default: 10,
    min: 1,
    max: 10_000,
    text: "Most lines of batches that each process answers at the same time. Every other response in progress or waiting takes the place of one, down to one line.",
  },
  runQueueMax: {
    name: "RUN_QUEUE_MAX",
    section: "Limits",
    kind: "integer",
    default: 1000,
    min: 0,
    max: 1_000_000,
    text: "Most background responses in the queue. Further requests are told to retry later.",
  },
} as const satisfies Readonly<Record<string, Setting>>;

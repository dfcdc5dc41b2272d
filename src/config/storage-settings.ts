import type { Setting } from "./setting.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;

/** Where everything is kept, how safely and for how long. */
export const STORAGE_SETTINGS = {
  dataDir: {
    name: "DATA_DIR",
    section: "Storage",
    kind: "path",
    default: "./data",
    text: "The folder of everything that is kept. It is made if it is not there.",
  },
  databaseFile: {
    name: "DATABASE_FILE",
    section: "Storage",
    kind: "path",
    default: null,
    defaultText: "DATA_DIR/antiphon.db",
    text: "The SQLite database. :memory: keeps nothing.",
  },
  databaseLockWaitMs: {
    name: "DATABASE_LOCK_WAIT_MS",
    section: "Storage",
    kind: "duration",
    default: 10 * SECOND,
    min: 0,
    max: 10 * MINUTE,
    text: "How long a write waits for a lock that another process holds on the database, such as a backup tool; then it fails with 503. Reads go on meanwhile.",
  },
  databaseSync: {
    name: "DATABASE_SYNC",
    section: "Storage",
    kind: "choice",
    default: "normal",
    choices: ["normal", "full"],
    text: "What a power cut may take. normal: the commits of the last moments, never the rest; full: nothing that was answered, at the price of a wait for the disk in each commit. A process that is killed loses nothing either way.",
  },
  eventCommitIntervalMs: {
    name: "EVENT_COMMIT_INTERVAL_MS",
    section: "Storage",
    kind: "duration",
    default: 4,
    min: 0,
    max: SECOND,
    text: "The least time between two commits of events: what a live reader may wait, and what all runs share a commit for.",
  },
  responsesTtlMs: {
    name: "RESPONSES_TTL",
    section: "Storage",
    kind: "duration",
    default: 30 * DAY,
    min: 0,
    max: 36_500 * DAY,
    needsUnit: true,
    text: "How long a response is kept after it was made, such as 12h or 90d; then it is removed with its items and events, unless a younger one continues it. 0 keeps all. Conversations are kept.",
  },
} as const satisfies Readonly<Record<string, Setting>>;

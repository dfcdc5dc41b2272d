import type { Setting } from "../setting.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;

/** Where data is stored, how safely and for how long. */
export const STORAGE_SETTINGS = {
  dataDir: {
    name: "DATA_DIR",
    section: "Storage",
    kind: "path",
    default: "./data",
    text: "Folder of all stored data. It is created if missing.",
  },
  databaseFile: {
    name: "DATABASE_FILE",
    section: "Storage",
    kind: "path",
    default: null,
    defaultText: "DATA_DIR/antiphon.db",
    text: "File of the SQLite database. :memory: stores nothing on disk.",
  },
  databaseLockWaitMs: {
    name: "DATABASE_LOCK_WAIT_MS",
    section: "Storage",
    kind: "duration",
    default: 10 * SECOND,
    min: 0,
    max: 10 * MINUTE,
    text: "How long a write waits while another process, such as a backup tool, locks the database. After that, it fails with 503. Reads are not affected.",
  },
  databaseSync: {
    name: "DATABASE_SYNC",
    section: "Storage",
    kind: "choice",
    default: "normal",
    choices: ["normal", "full"],
    text: "What a power failure can lose. normal: the last moments of commits; full: nothing that was acknowledged, but every commit waits for the disk. A killed process loses nothing either way.",
  },
  eventCommitIntervalMs: {
    name: "EVENT_COMMIT_INTERVAL_MS",
    section: "Storage",
    kind: "duration",
    default: 0,
    min: 0,
    max: SECOND,
    text: "Shortest time between two commits of events, for slow disks. All runs share one commit in this time, and live readers may wait this long. With 0, events are committed at once, or with the next commit while others are under way.",
  },
  sealKeys: {
    name: "SEAL_KEYS",
    section: "Storage",
    kind: "secrets",
    default: [],
    defaultText: "the lines of DATA_DIR/seal-key, which is created at the first start",
    text: "Keys that encrypt data held by clients and secrets of waiting responses: 64 hexadecimal digits each, as printed by openssl rand -hex 32, separated by commas; or the path of a file with one per line, which is read again when another server uses a new key. The first key seals, and all keys open. Required with DATABASE_URL.",
  },
  responsesTtlMs: {
    name: "RESPONSES_TTL",
    section: "Storage",
    kind: "duration",
    default: 30 * DAY,
    min: 0,
    max: 36_500 * DAY,
    needsUnit: true,
    text: "How long a response is kept after its creation, such as 12h or 90d. It is then deleted with its items and events, unless a newer response continues it. 0 keeps all responses. Conversations are not deleted.",
  },
} as const satisfies Readonly<Record<string, Setting>>;

import { AMOUNTS_ATTEMPTS } from "./attempts/amounts.ts";
import type { EscapeAttempt } from "./attempts/escape-attempt.ts";
import { FILES_ATTEMPTS } from "./attempts/files.ts";
import { HARNESS_ATTEMPTS } from "./attempts/harness.ts";
import { NETWORK_ATTEMPTS } from "./attempts/network.ts";
import { PROCESSES_ATTEMPTS } from "./attempts/processes.ts";
import { SYSTEM_ATTEMPTS } from "./attempts/system.ts";

export const ESCAPE_ATTEMPTS: readonly EscapeAttempt[] = [
  ...FILES_ATTEMPTS,
  ...SYSTEM_ATTEMPTS,
  ...NETWORK_ATTEMPTS,
  ...PROCESSES_ATTEMPTS,
  ...AMOUNTS_ATTEMPTS,
  ...HARNESS_ATTEMPTS,
];

const MEBIBYTE = 1024 * 1024;
const SECOND = 1000;

/** Limits that no setting changes. */
export const CODE_LIMITS = {
  /** Of one sandbox. */
  processesMax: 64,
  /** Of one container. */
  filesMax: 1000,
  fileBytesMax: 100_000_000,
  /** What one call may print and show. */
  logCharactersMax: MEBIBYTE,
  imagesMax: 8,
  imageBytesMax: 4 * MEBIBYTE,
  /** Calls of one container, the one at work included. */
  callsOfContainerMax: 32,
  /** Calls of all containers that wait for a place, and how long each waits. */
  placesWaitingMax: 64,
  placeWaitMs: 30 * SECOND,
  /** How long a sandbox may take to start, and to take or give the files of one call. */
  startMs: 60 * SECOND,
  syncMs: 60 * SECOND,
} as const;

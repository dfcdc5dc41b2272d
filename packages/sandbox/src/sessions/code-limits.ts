const MEBIBYTE = 1024 * 1024;
const SECOND = 1000;

/** Fixed limits. */
export const CODE_LIMITS = {
  /** Per sandbox. */
  processesMax: 64,
  /** Per container. */
  filesMax: 1000,
  fileBytesMax: 100_000_000,
  /** The maximum output of one call. */
  logCharactersMax: MEBIBYTE,
  imagesMax: 8,
  imageBytesMax: 4 * MEBIBYTE,
  /** Calls of one container, including the running one. */
  callsOfContainerMax: 32,
  /** The maximum calls of all containers that wait for a place, and how long each waits. */
  placesWaitingMax: 64,
  placeWaitMs: 30 * SECOND,
  /** The time limits for starting a sandbox, and for copying the files of one call. */
  startMs: 60 * SECOND,
  syncMs: 60 * SECOND,
} as const;

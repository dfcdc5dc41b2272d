/** A run that shows no new event for so long, while every node works, is given up and reported as stuck. */
export const SILENT_MS_MAX = 60_000;
/** A run is given up after so long, whatever happened meanwhile. */
export const RUN_MS_MAX = 600_000;
/** Until the first byte of a reply. */
export const REPLY_MS_MAX = 10_000;
/** A reader whose connection is silent for so long opens another one. */
export const READ_MS_MAX = 25_000;
/** Between two tries to reach a node that is not there. */
export const RETRY_MS = 50;
/** How long a question at the end of a run is tried again, until it counts as a failed check. */
export const CHECK_MS_MAX = 30_000;
/** How long a node that ended by itself is started again and again. */
export const START_MS_MAX = 120_000;
/** A receiver of webhooks that failed is told again within this. */
export const TOLD_MS_MAX = 120_000;
/** Runs may be created so long before the first fault of a wave comes anyway. */
export const CREATE_MS_MAX = 30_000;

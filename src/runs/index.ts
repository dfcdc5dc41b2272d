export { foldEvents, ResponseFold } from "./fold-events.ts";
export { readEvents } from "./read-events.ts";
export { startRun, type LiveRun, type RunStart } from "./run-driver.ts";
export type { RunPlan } from "./run-state.ts";

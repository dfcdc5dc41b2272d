export { estimateTokens } from "./estimate-tokens.ts";
export { ResponseFold } from "./fold-events.ts";
export { type LiveRun, startRun } from "./run-driver.ts";
export type { RunPlan } from "./run-state.ts";

export { estimateTokens } from "./estimate-tokens.ts";
export { ResponseFold } from "./fold/fold-events.ts";
export { readEvents } from "./reading/read-events.ts";
export { INTERRUPTED_FAILURE, OUTDATED_FAILURE } from "./run-failures.ts";
export { RunHost, type RunOrder, RunsExhausted, RunsLeaving } from "./run-host.ts";
export type { RunPlan } from "./run-state.ts";
export { usageOf } from "./usage.ts";

export { cutForm, isUnfinishedCall } from "./blocks/hosted-forms.ts";
export { ResponseFold } from "./fold/fold-events.ts";
export { readEvents } from "./reading/read-events.ts";
export type { ShownAnswer } from "./restore-run.ts";
export type { RunOutcome } from "./run-driver.ts";
export { estimateTokens, responseUsage } from "./run-end.ts";
export { INTERRUPTED_FAILURE, OUTDATED_FAILURE } from "./run-failures.ts";
export { QueueClosed, RunHost, type RunOrder, RunsExhausted } from "./run-host.ts";
export type { RunPlan } from "./run-state.ts";

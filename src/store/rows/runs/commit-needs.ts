import type { TakenSteers } from "../../../runs/ports/event-log.ts";
import type { CommitPlan } from "./commit-plan.ts";
import type { Holder } from "./conversation-rows.ts";
import type { WriteJob } from "./write-job.ts";

/** The responses that are stored whole and must still have the lock on their conversation. */
export function holdersOf(jobs: readonly WriteJob[]): readonly Holder[] {
  return jobs.flatMap((job) =>
    job.type === "whole" && job.conversation !== null
      ? [{ responseId: job.responseId, conversationId: job.conversation.conversationId }]
      : [],
  );
}

/** Whether a plan only adds journal text and new responses outside of conversations. */
export function onlyAdds(plan: CommitPlan): boolean {
  const { updates, deletions, conversations, tools, inConversations, news, responses, items, chunks } = plan;
  const others = [updates, deletions, conversations, tools, inConversations, news];
  if (others.some(({ length }) => length > 0)) return false;
  const newIds = new Set(responses.map(({ id }) => id));
  return responses.length > 0 && [...items, ...chunks].every((part) => newIds.has(part.response_id));
}

/** Whether a plan is at most one insert into the journal. */
export function isOneInsert(plan: CommitPlan): boolean {
  return (
    plan.responses.length +
      plan.updates.length +
      plan.items.length +
      plan.deletions.length +
      plan.conversations.length +
      plan.tools.length +
      plan.chunks.length ===
    0
  );
}

/** A new response that takes the inputs that were added to another one. */
type TakingJob = Extract<WriteJob, { readonly steers: unknown }> & { readonly steers: TakenSteers };

export function takesInput(job: WriteJob): job is TakingJob {
  return (job.type === "open" || job.type === "whole") && job.steers !== null;
}

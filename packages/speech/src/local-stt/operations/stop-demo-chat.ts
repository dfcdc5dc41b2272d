import type { LocalSttHandlers } from "@antiphon/contracts/local-stt/operations.ts";
import type { SttContext } from "../context.ts";
import type { DemoAnswers } from "../demo/demo-answers.ts";

/** `DELETE /demo/chat`: stops an answer that outlives its request. */
export function stopDemoChat(answers: DemoAnswers): LocalSttHandlers<SttContext>["stopDemoChat"] {
  return async ({ query }) => {
    answers.stop(query.answer_id);
    return { status: 204 };
  };
}

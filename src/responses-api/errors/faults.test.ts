import { expect, test } from "vitest";
import { responsesApiFaults } from "./faults.ts";

test("the error of a stream that breaks repeats the latest number, so that nothing is missed after it", () => {
  const broken = responsesApiFaults.internalError("req_1");
  const latest = { type: "response.output_text.delta", sequence_number: 41 };
  expect(responsesApiFaults.streamError(broken, latest)).toMatchObject([{ type: "error", sequence_number: 41 }]);
  expect(responsesApiFaults.streamError(broken, null)).toMatchObject([{ type: "error", sequence_number: 0 }]);
});

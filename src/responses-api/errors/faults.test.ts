import { expect, test } from "vitest";
import { verifies } from "../../../tests/verifies.ts";
import { responsesApiFaults } from "./faults.ts";

test("the error of a stream that nobody can resume takes the next number", () => {
  verifies("responses.stream.own-error-takes-next-number");
  const broken = responsesApiFaults.internalError("req_1");
  const latest = { type: "response.output_text.delta", sequence_number: 41 };
  expect(responsesApiFaults.streamError(broken, latest)).toMatchObject([{ type: "error", sequence_number: 42 }]);
  expect(responsesApiFaults.streamError(broken, null)).toMatchObject([{ type: "error", sequence_number: 0 }]);
});

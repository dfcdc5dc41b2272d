import type { Response, ResponseSteer } from "@antiphon/contracts/responses-api/types.ts";
import type { StoredSteer } from "@antiphon/domain/steering/steers.ts";
import { requiredInput } from "../input/required-input.ts";

/** Input that was added to this response. */
export function shownSteer(steer: StoredSteer, { output }: Response): ResponseSteer {
  return { ...steer, required_input: steer.status === "pending" ? requiredInput(output) : [] };
}

import type { CreateResponseRequest } from "../../../generated/responses-api/types.ts";
import { backgroundWithoutStore, unsupportedParameter } from "../errors/parameter-errors.ts";

/** Refuses what cannot be done in the background, or only there. */
export function checkBackground(request: CreateResponseRequest): void {
  const { background, background_options: options, store, stream } = request;
  if (background === true && store === false) throw backgroundWithoutStore();
  const window = options?.completion_window ?? "soonest";
  if (window === "soonest" || (background === true && stream !== true)) return;
  throw unsupportedParameter(
    "background_options.completion_window",
    `A window of '${window}' needs 'background' true, and cannot be combined with 'stream' true.`,
  );
}

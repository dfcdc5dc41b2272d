import { noSuchModel } from "../errors/model-errors.ts";

/**
 * Refuses an empty name here, because some model servers answer with any model then. All other names are left to the
 * engine.
 */
export function checkModelName(model: string | null | undefined): void {
  if (model?.trim() === "") throw noSuchModel(model);
}

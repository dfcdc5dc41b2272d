import { nearestModel } from "@antiphon/base/nearest-word.ts";
import type { ModelDescription } from "./model-engine.ts";
import { ModelError } from "./model-error.ts";

/**
 * The refusal of an unknown model, with the nearest existing name. Other errors, and errors without a near name or a
 * list of models, are unchanged.
 */
export async function withNearModel(
  refusal: unknown,
  model: string,
  list: () => Promise<readonly ModelDescription[]>,
): Promise<unknown> {
  if (!(refusal instanceof ModelError) || refusal.code !== "model_not_found" || model === "") return refusal;
  const models = await list().catch(() => []);
  const near = nearestModel(
    model,
    models.map(({ id }) => id),
  );
  if (near === null) return refusal;
  const { status, type, code, param, retry, cause } = refusal;
  const quote = `Did you mean '${near}'?`;
  return new ModelError(`${refusal.message} ${quote}`, { status, type, code, param, quoted: quote, retry, cause });
}

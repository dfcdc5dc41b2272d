import { ApiError } from "@antiphon/base/api-error.ts";
import type { SchemaRefusal } from "@antiphon/base/json/schema-refusal.ts";
import { validationError } from "./validation-error.ts";

type Validator = ((value: unknown) => boolean) & { readonly errors?: readonly SchemaRefusal[] | null };

const shown = ({ code, param, message }: ApiError): string => `${code} ${param}: ${message}`;

/** The code, param and message of the `ApiError` thrown by a check; null if there is none. */
export function refusalOf(check: () => unknown): string | null {
  try {
    check();
    return null;
  } catch (error) {
    if (error instanceof ApiError) return shown(error);
    throw error;
  }
}

/** The same for a value that does not match its schema. */
export function schemaRefusalOf(validate: Validator, value: unknown): string | null {
  return validate(value) ? null : shown(validationError(validate.errors ?? [], ""));
}

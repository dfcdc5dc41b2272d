/** Why a query parameter was refused. */
export type QueryRefusal = { readonly name: string; readonly value: string } & (
  | { readonly rule: "required" }
  | { readonly rule: "type"; readonly kind: "integer" | "number" | "boolean" | "object" }
  | { readonly rule: "enum"; readonly choices: readonly string[] }
  | { readonly rule: "pattern"; readonly pattern: string }
  | { readonly rule: "minimum" | "maximum"; readonly limit: number; readonly integer: boolean }
  | { readonly rule: "minLength" | "maxLength" | "maxItems"; readonly limit: number; readonly size: number }
);

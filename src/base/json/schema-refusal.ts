/**
 * What a generated validator says about a value it refuses; `parentSchema` is the schema that refused it, `data` the
 * value.
 */
export interface SchemaRefusal {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly parentSchema?: unknown;
  readonly data?: unknown;
}

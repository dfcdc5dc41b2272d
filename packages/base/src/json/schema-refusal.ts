/** An error of a generated validator: `parentSchema` is the schema that refused, `data` the value. */
export interface SchemaRefusal {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly parentSchema?: unknown;
  readonly data?: unknown;
}

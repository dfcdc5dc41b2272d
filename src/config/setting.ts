import type { Secret } from "./secret.ts";

/** The section of the documentation that a setting stands in. */
export type Section =
  | "Servers"
  | "Model"
  | "Input"
  | "Voices"
  | "Speech"
  | "Cloud stream"
  | "Formatting"
  | "Storage"
  | "Limits"
  | "Streams"
  | "Logs"
  | "Metrics"
  | "Traces";

interface Described {
  /** Of the environment variable; `--model-base-url` is the flag of `MODEL_BASE_URL`. */
  readonly name: string;
  readonly section: Section;
  /** Full sentences, shown wherever the setting is documented. */
  readonly text: string;
  /** Shown in place of the default where it depends on something else. */
  readonly defaultText?: string;
}

export type Setting = Described &
  (
    | { readonly kind: "string"; readonly default: string | null }
    | { readonly kind: "path"; readonly default: string | null }
    | { readonly kind: "integer"; readonly default: number | null; readonly min: number; readonly max: number }
    | {
        readonly kind: "duration";
        readonly default: number;
        readonly min: number;
        readonly max: number;
        /**
         * Whether a bare number, which would be milliseconds, is refused: where it might be taken for days, and much
         * depends on it.
         */
        readonly needsUnit?: true;
      }
    | { readonly kind: "boolean"; readonly default: boolean | null }
    | { readonly kind: "url"; readonly default: null }
    | { readonly kind: "choice"; readonly default: string; readonly choices: readonly string[] }
    | { readonly kind: "list"; readonly default: readonly string[]; readonly choices?: readonly string[] }
    | { readonly kind: "secret"; readonly default: null }
    | { readonly kind: "secrets"; readonly default: readonly Secret[] }
  );

interface ValueOfKind {
  readonly string: string;
  readonly path: string;
  readonly integer: number;
  /** Milliseconds. */
  readonly duration: number;
  readonly boolean: boolean;
  /** As it was written, and known to be http or https. */
  readonly url: string;
  /** Written with commas between. */
  readonly list: readonly string[];
  readonly secret: Secret;
  readonly secrets: readonly Secret[];
}

/** What a setting of the table is once it is read: null only if it may be left out. */
export type ValueOf<S extends Setting> =
  | (S extends { kind: "choice"; choices: readonly (infer Choice)[] } ? Choice : never)
  | (S["kind"] extends keyof ValueOfKind ? ValueOfKind[S["kind"]] : never)
  | Extract<S["default"], null>;

export type Values<Table extends Readonly<Record<string, Setting>>> = {
  readonly [Key in keyof Table]: ValueOf<Table[Key]>;
};

import type { Secret } from "./secret.ts";

/** The section of the documentation. */
export type Section =
  | "Servers"
  | "Model"
  | "Input"
  | "Tools"
  | "Vector stores"
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
  /** Name of the environment variable; the flag of `MODEL_BASE_URL` is `--model-base-url`. */
  readonly name: string;
  readonly section: Section;
  /** Full sentences, shown wherever the setting is documented. */
  readonly text: string;
  /** Shown instead of the default if it is computed. */
  readonly defaultText?: string;
}

export type Setting = Described &
  (
    | { readonly kind: "string"; readonly default: string | null }
    | { readonly kind: "path"; readonly default: string | null }
    | {
        readonly kind: "integer";
        readonly default: number | null;
        readonly min: number;
        readonly max: number;
        /** The value of `auto` on this machine. */
        readonly auto?: () => number;
      }
    | {
        readonly kind: "duration";
        readonly default: number;
        readonly min: number;
        readonly max: number;
        /** Refuses a bare number (milliseconds): for settings where a user might mean days, and a mistake is costly. */
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
  /** As written; always http or https. */
  readonly url: string;
  /** Separated by commas. */
  readonly list: readonly string[];
  readonly secret: Secret;
  readonly secrets: readonly Secret[];
}

/** The type of a setting's value; null only if the setting is optional. */
export type ValueOf<S extends Setting> =
  | (S extends { kind: "choice"; choices: readonly (infer Choice)[] } ? Choice : never)
  | (S["kind"] extends keyof ValueOfKind ? ValueOfKind[S["kind"]] : never)
  | Extract<S["default"], null>;

export type Values<Table extends Readonly<Record<string, Setting>>> = {
  readonly [Key in keyof Table]: ValueOf<Table[Key]>;
};

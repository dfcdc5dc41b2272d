import type { ModelRequest, TokenCount } from "../../../runs/ports.ts";
import type { ServerAddress } from "../ask-server.ts";
import type { BackendProfile } from "../profile.ts";
import { mapRequest } from "../request/map-request.ts";
import { estimateAttachmentTokens, estimateChatTokens } from "./estimate-chat-tokens.ts";
import { ServerTokenCount } from "./server-token-count.ts";

/** Counts turns as a model server would: by asking it, or by the tokenizer of the model's family. */
export class TokenCounter {
  readonly #profile: BackendProfile;
  readonly #server: ServerTokenCount;

  constructor(server: ServerAddress, profile: BackendProfile) {
    this.#profile = profile;
    this.#server = new ServerTokenCount(server, profile.knowsVendorFields);
  }

  async count(request: ModelRequest, signal: AbortSignal): Promise<TokenCount> {
    const { body: chat } = mapRequest(request, this.#profile);
    const counted = await this.#server.count({ request, chat }, signal);
    if (counted === null) return { tokens: await estimateChatTokens(chat, signal), exact: false };
    const attached = counted.countsAttachments ? 0 : estimateAttachmentTokens(chat);
    return { tokens: counted.tokens + attached, exact: attached === 0 };
  }
}

import type { Owner } from "@antiphon/domain/owner.ts";
import { sealScope } from "../responses-api/input/resolve-input.ts";
import type { Sealer } from "../responses-api/seal.ts";

type Kind = "transcript" | "items";

/** Seals what a client keeps unread and sends back. What was sealed as one kind opens as this kind alone. */
export interface ClientSeal {
  seal(kind: Kind, text: string): string;
  /** The text; null if the seal is another server's or another owner's. */
  open(kind: Kind, sealedText: string): string | null;
}

export function clientSeal(sealer: Sealer, owner: Owner): ClientSeal {
  const scopeOf = (kind: Kind): string => `${sealScope(owner)} ${kind}`;
  return {
    seal: (kind, text) => sealer.seal(text, kind, scopeOf(kind)),
    open: (kind, sealedText) => sealer.open(sealedText, scopeOf(kind)),
  };
}

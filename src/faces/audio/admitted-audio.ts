import type { AudioHandlers } from "@antiphon/contracts/audio/operations.ts";
import { audioHandlers } from "@antiphon/speech/audio-api/audio-handlers.ts";
import type { AudioParts } from "@antiphon/speech/audio-api/ports.ts";
import { Admission } from "../../responses-api/access/admission.ts";
import type { Caller } from "../../responses-api/access/caller.ts";
import type { KeyAccounts } from "../../responses-api/access/key-accounts.ts";

type AdmittedAudio = Omit<AudioHandlers<Caller>, "createRealtimeClientSecret" | "createRealtimeTranscriptionSession">;

interface HeadedReply {
  readonly headers?: Readonly<Record<string, string>>;
}

/** The audio routes of Interface A, within the limits of keys. Sound has no tokens, so only requests count. */
export function admittedAudio(parts: AudioParts, accounts: KeyAccounts): AdmittedAudio {
  const handlers = audioHandlers(parts);
  const admitted = async <Reply extends HeadedReply>(caller: Caller, serve: () => Promise<Reply>): Promise<Reply> => {
    await accounts.budgets.requireRoom(caller.principal);
    const { headers } = await Admission.open(accounts.limiter, caller.principal);
    const reply = await serve();
    return { ...reply, headers: { ...headers, ...reply.headers } };
  };
  return {
    ...handlers,
    createSpeech: (request, caller) => admitted(caller, () => handlers.createSpeech(request, caller)),
    createTranscription: (request, caller) => admitted(caller, () => handlers.createTranscription(request, caller)),
    createTranslation: (request, caller) => admitted(caller, () => handlers.createTranslation(request, caller)),
  };
}

import type { AudioHandlers } from "@antiphon/contracts/audio/operations.ts";
import { audioHandlers } from "@antiphon/speech/audio-api/audio-handlers.ts";
import type { AudioParts } from "@antiphon/speech/audio-api/ports.ts";
import { Admission } from "../../responses-api/access/admission.ts";
import type { Caller } from "../../responses-api/access/caller.ts";
import type { KeyAccounts } from "../../responses-api/access/key-accounts.ts";
import type { ModelUser } from "../../responses-api/access/usage-meter.ts";

type AdmittedAudio = Omit<AudioHandlers<Caller>, "createRealtimeClientSecret" | "createRealtimeTranscriptionSession">;

interface HeadedReply {
  readonly headers?: Readonly<Record<string, string>>;
}

/** The audio routes of Interface A, within the limits of keys. Sound has no tokens, so only requests count. */
export function admittedAudio(parts: AudioParts, accounts: KeyAccounts): AdmittedAudio {
  const handlers = audioHandlers(parts);
  const { meter } = accounts;
  const withMeter = (caller: Caller, model: string | undefined) => ({
    ...caller,
    onHeard: (ms: number) => meter.noteHearing(modelUser(caller, model), ms),
  });
  const admitted = async <Reply extends HeadedReply>(caller: Caller, serve: () => Promise<Reply>): Promise<Reply> => {
    await accounts.budgets.requireRoom(caller.principal);
    const { headers } = await Admission.open(accounts.limiter, caller.principal);
    const reply = await serve();
    return { ...reply, headers: { ...headers, ...reply.headers } };
  };
  return {
    ...handlers,
    createSpeech: async (request, caller) => {
      const reply = await admitted(caller, () => handlers.createSpeech(request, caller));
      meter.noteSpeech(modelUser(caller, request.body.model), request.body.input.length);
      return reply;
    },
    createTranscription: (request, caller) =>
      admitted(caller, () => handlers.createTranscription(request, withMeter(caller, request.body.model))),
    createTranslation: (request, caller) =>
      admitted(caller, () => handlers.createTranslation(request, withMeter(caller, request.body.model))),
  };
}

/** The user of a model that a request names, or of none. */
function modelUser({ principal: { owner, keyId } }: Caller, model = ""): ModelUser {
  return { owner, keyId, model };
}

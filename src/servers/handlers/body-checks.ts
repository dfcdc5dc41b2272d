import {
  validateCompactRequest,
  validateCreateConversationItemsRequest,
  validateCreateConversationRequest,
  validateInputTokensRequest,
} from "@antiphon/contracts/responses-api/validators.js";
import type { BodyCheck } from "@antiphon/http-kit/contract.ts";
import {
  checkSpeechBody,
  checkTranscriptionForm,
  checkTranslationForm,
} from "@antiphon/speech/audio-api/check-forms.ts";
import { checkClientSecretBody, checkOlderSessionBody } from "@antiphon/speech/realtime/check-secrets.ts";
import { checkContextBody, checkCreateBody, checkItemsBody } from "../../responses-api/checks/check-body.ts";
import { checkContainerFile } from "../../responses-api/checks/check-container-file.ts";
import { checkEmbeddingsBody } from "../../responses-api/checks/check-embeddings.ts";
import { checkFileUpload } from "../../responses-api/checks/check-file-upload.ts";
import { checkSkillUpload, checkSkillVersionUpload } from "../../responses-api/checks/check-skill-upload.ts";

/** Checks of the forms of audio routes, on both interfaces. */
export const audioBodyChecks: Readonly<Record<string, BodyCheck>> = {
  createRealtimeClientSecret: checkClientSecretBody,
  createRealtimeTranscriptionSession: checkOlderSessionBody,
  createSpeech: checkSpeechBody,
  createTranscription: checkTranscriptionForm,
  createTranslation: checkTranslationForm,
};

/**
 * Checks of request bodies, by operation, that the schema cannot express or that the reference makes in another order.
 */
export const responsesApiBodyChecks: Readonly<Record<string, BodyCheck>> = {
  createResponse: checkCreateBody,
  createFile: checkFileUpload,
  createContainerFile: checkContainerFile,
  createSkill: checkSkillUpload,
  createSkillVersion: checkSkillVersionUpload,
  createEmbedding: checkEmbeddingsBody,
  // Both bodies are parts of a create call's body and are checked in the same way.
  countInputTokens: (body) => (body === undefined ? undefined : checkContextBody(body, validateInputTokensRequest)),
  compactResponse: (body) => checkContextBody(body, validateCompactRequest),
  // Item lists may hold references without a type, which the schema cannot check.
  createConversation: (body) =>
    body === undefined ? undefined : checkItemsBody(body, validateCreateConversationRequest),
  createConversationItems: (body) => checkItemsBody(body, validateCreateConversationItemsRequest),
};

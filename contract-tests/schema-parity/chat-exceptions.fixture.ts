import type { Group } from "./exceptions.fixture.ts";

/** Deliberate differences of chat completions from the reference's published schemas. */
export const CHAT_EXCEPTIONS: readonly Group[] = [
  {
    reason: "the reference says so in words, or answers so, though its schema does not",
    places: [
      "request ResponseFormatJsonSchema.json_schema.name: maxLength 64",
      "request ResponseFormatJsonSchema.json_schema.name: pattern ^[a-zA-Z0-9_-]+$",
      "request FunctionObject.name: maxLength 128",
      "request FunctionObject.name: pattern ^[a-zA-Z0-9_-]+$",
      "request ChatCompletionFunctions.name: maxLength 128",
      "request ChatCompletionFunctions.name: pattern ^[a-zA-Z0-9_-]+$",
      "request ChatCompletionAllowedTools.tools[].type: may be left out",
      "request ChatCompletionAllowedTools.tools[].function: may be left out",
      "request ChatCompletionAllowedTools.tools[].*: no further members",
      "query metadata Metadata: maxProperties 16",
      "query metadata Metadata.*: maxLength 512",
      "query metadata Metadata: names of maxLength 64",
      "reply ChatCompletion.system_fingerprint: no null",
      "reply ChatCompletionChunk.system_fingerprint: no null",
      "reply ChatDelta.annotations: no such member",
      "reply CompletionChoice.finish_reason: no null",
      "reply text/event-stream: not declared",
    ],
  },
  {
    reason: "the limit that the reference's schemas have wherever else they describe such a member",
    places: [
      "*.url: maxLength 20971520",
      "*.refusal: maxLength 10485760",
      "*.arguments: maxLength 10485760",
      "*.input: maxLength 10485760",
      "request VoiceIdsOrCustomVoice: minLength 1",
      "request VoiceIdsOrCustomVoice: maxLength 64",
      "request VoiceIdsOrCustomVoice.id: minLength 1",
      "request VoiceIdsOrCustomVoice.id: maxLength 64",
    ],
  },
  {
    reason: "a limit of this server, so that one request cannot ask for work without end",
    places: [
      "query model: maxLength 256",
      "request CreateChatCompletionRequest.n: maximum 8",
      "request CreateChatCompletionRequest.tools: maxItems 2000",
      "request CreateCompletionRequest.n: maximum 8",
      "request CreateCompletionRequest.prompt: maxLength 10485760",
      "request CreateCompletionRequest.prompt: maxItems 8",
      "request CreateCompletionRequest.prompt[]: maxLength 10485760",
    ],
  },
  {
    reason: "nothing that could be meant: an empty name, no tokens, no prompts",
    places: [
      "query metadata Metadata: no null",
      "request CreateChatCompletionRequest.max_completion_tokens: minimum 1",
      "request CreateChatCompletionRequest.max_tokens: minimum 1",
      "request CreateCompletionRequest.model: minLength 1",
      "request CreateCompletionRequest.prompt: minItems 1",
      "request CreateCompletionRequest.best_of: minimum 1",
      "request CreateCompletionRequest.max_tokens: minimum 1",
    ],
  },
  {
    reason: "accepted like any member that is not listed: the schemas of this door are open",
    places: [
      "request CreateChatCompletionRequest.moderation: no such member",
      "request ChatCompletionRequestMessageContentPartText.prompt_cache_breakpoint: no such member",
      "request ChatCompletionRequestMessageContentPartImage.prompt_cache_breakpoint: no such member",
      "request ChatCompletionRequestMessageContentPartAudio.prompt_cache_breakpoint: no such member",
      "request ChatCompletionRequestMessageContentPartFile.prompt_cache_breakpoint: no such member",
    ],
  },
  {
    reason: "only its own models know such tokens",
    places: [
      "request CreateCompletionRequest.prompt[]: no number",
      "request CreateCompletionRequest.prompt[]: no array",
    ],
  },
  {
    reason: "null where nothing was counted or is in the list; a tier as its client named it",
    places: [
      "reply ChatCompletion.usage: no null",
      "reply ChatCompletionChunk.usage: no null",
      "reply TextCompletion.usage: no null",
      "*.first_id: no null",
      "*.last_id: no null",
      "reply ChatCompletion.service_tier: only auto, default, flex, scale, priority",
      "reply ChatCompletionChunk.service_tier: only auto, default, flex, scale, priority",
    ],
  },
  {
    reason: "the schema is one for all kinds; what is sent is as at the reference",
    places: [
      "reply ChatToolCallPiece<function>.custom: no such member",
      "reply ChatToolCallPiece<custom>: no such object",
      "reply ChatDelta.audio: no such member",
      "reply CompletionChoice.logprobs.*: no further members",
    ],
  },
  {
    reason: "the last data of a stream that failed, which the reference does not declare",
    places: [
      "reply ChatStreamFault.id: may be left out",
      "reply ChatStreamFault.choices: may be left out",
      "reply ChatStreamFault.created: may be left out",
      "reply ChatStreamFault.model: may be left out",
      "reply ChatStreamFault.object: may be left out",
      "reply ChatStreamFault.error: no such member",
    ],
  },
  {
    reason: "the messages of a request have roles and parts, which the reference declares as those of an answer",
    places: [
      "reply ChatStoredMessage<developer>: no such object",
      "reply ChatStoredMessage<system>: no such object",
      "reply ChatStoredMessage<user>: no such object",
      "reply ChatStoredMessage<tool>: no such object",
      "reply ChatStoredMessage<assistant>.refusal: may be left out",
      "reply ChatStoredMessage<assistant>.tool_call_id: no such member",
      'reply ChatImageUrl.detail: no "original"',
      "reply ChatImageUrl.detail: no null",
      "reply ChatAudioPart: no such object",
      "reply ChatFilePart: no such object",
    ],
  },
];

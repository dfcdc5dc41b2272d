interface Group {
  readonly reason: string;
  /** Findings as they are printed, without the fault. */
  readonly places: readonly string[];
}

const created = (...items: readonly string[]): readonly string[] => items.map((item) => `request ${item}.created_by`);

/**
 * Members and values that our server accepts, that are no extensions of ours, and that the reference's published
 * schemas lack. The test fails once the reference publishes an entry.
 */
export const UNPUBLISHED: readonly Group[] = [
  {
    reason: "headers, which the reference documents apart from its operations",
    places: [
      "header OpenAI-Organization",
      "header OpenAI-Project",
      "header OpenAI-Beta",
      "header X-Client-Request-Id",
      "header Idempotency-Key",
    ],
  },
  {
    reason: "members and values of the reference's official SDK, which is newer than the schemas",
    places: [
      ...created("ApplyPatchCallInput", "ApplyPatchCallOutputInput", "CompactionInput", "ComputerCallOutputInput"),
      ...created("CustomToolCallInput", "CustomToolCallOutputInput", "FunctionCallInput", "FunctionCallOutputInput"),
      ...created("ShellCallInput", "ShellCallOutputInput", "ShellCommandOutput"),
      ...created("ToolSearchCallInput", "ToolSearchOutputInput"),
      "request FunctionToolInput.async",
      "request CustomToolInput.async",
      "request NamespaceFunctionToolInput.async",
      "request CustomToolCallInput.async",
      "request FunctionCallInput.async",
      "request WebSearchToolInput<web_search>.search_content_types",
      "request WebSearchToolInput<web_search_2025_08_26>.search_content_types",
      "request ImageGenerationToolInput.complexity",
      "request ImageGenerationToolInput.frame_count",
      "request ImageGenerationToolInput.frame_duration_ms",
      "request ImageGenerationToolInput.n",
      "request ImageGenerationToolInput.output_format",
      "request ImageGenerationToolInput.quality",
      "request ImageGenerationToolInput.svg",
      "request ImageGenerationCallInput.svg_usage",
      "request AgentMessageInput",
      "request ConfigurationUpdateInput",
      "request MultiAgentCallInput",
      "request MultiAgentCallOutputInput",
      "request ComputerScreenshot.detail",
      "request ComputerScreenshot.prompt_cache_breakpoint",
      "request PromptCacheBreakpoint.ttl",
      "request PromptCacheOptionsInput.comparison_response_id",
      "request PromptCacheOptionsInput.prewarm",
      "request PromptCacheOptionsInput.ttl",
      "request CreateResponseRequest.access_programs",
      "request CreateResponseRequest.background_options",
      "request CreateResponseRequest.image",
      "request CompactRequest.image",
      "request CompactRequest.service_tier",
      "query before",
    ],
  },
  {
    reason: "what items have where the reference sends them, taken back with all of it",
    places: [
      "request CompactionTriggerInput.id",
      "request ComputerCallOutputInput.status",
      "request CustomToolCallInput.status",
      "request CustomToolCallOutputInput.status",
      "request FileSearchResultInput.vector_store_id",
      "request ImageGenerationCallInput.action",
      "request ImageGenerationCallInput.background",
      "request ImageGenerationCallInput.error",
      "request ImageGenerationCallInput.output_format",
      "request ImageGenerationCallInput.quality",
      "request ImageGenerationCallInput.revised_prompt",
      "request ImageGenerationCallInput.size",
      "request MessageInput<message system>.id",
      "request MessageInput<message system>.status",
      "request MessageInput<message developer>.id",
      "request MessageInput<message developer>.status",
      "request MessageInput<message user>.id",
      "request MessageInput<message user>.status",
      "request WebSearchCallInput.status",
      "request WebSearchCallInput.results",
      "request WebSearchApiSource",
    ],
  },
  {
    reason: "one schema of ours for parts of content where the reference has one for each role; code tells them apart",
    places: [
      "request InputText",
      "request InputImage",
      "request InputFile",
      "request InputAudio",
      "request OutputTextInput",
      "request Refusal",
    ],
  },
  {
    reason: "live answers and known clients have it",
    places: [
      "request CreateResponseRequest.presence_penalty",
      "request CreateResponseRequest.frequency_penalty",
      "request CreateResponseRequest.client_metadata",
      "request WebSearchToolInput<web_search>.return_token_budget",
      "request WebSearchToolInput<web_search_2025_08_26>.return_token_budget",
      "request ToolChoiceHosted<web_search>",
      "request ToolChoiceHosted<web_search_2025_08_26>",
    ],
  },
];

/**
 * Operations of the reference's official SDK that the document of responses lacks. The test fails once it has one of
 * them.
 */
export const UNPUBLISHED_OPERATIONS: readonly string[] = [
  "GET /v1/containers",
  "POST /v1/containers",
  "GET /v1/containers/{container_id}",
  "DELETE /v1/containers/{container_id}",
  "GET /v1/containers/{container_id}/files",
  "POST /v1/containers/{container_id}/files",
  "GET /v1/containers/{container_id}/files/{file_id}",
  "DELETE /v1/containers/{container_id}/files/{file_id}",
  "GET /v1/containers/{container_id}/files/{file_id}/content",
  "POST /v1/embeddings",
  "GET /v1/organization/admin_api_keys",
  "POST /v1/organization/admin_api_keys",
  "GET /v1/organization/admin_api_keys/{key_id}",
  "DELETE /v1/organization/admin_api_keys/{key_id}",
  "GET /v1/organization/costs",
  "GET /v1/organization/projects/{project_id}/api_keys",
  "GET /v1/organization/projects/{project_id}/api_keys/{api_key_id}",
  "DELETE /v1/organization/projects/{project_id}/api_keys/{api_key_id}",
  "GET /v1/organization/usage/audio_speeches",
  "GET /v1/organization/usage/audio_transcriptions",
  "GET /v1/organization/usage/code_interpreter_sessions",
  "GET /v1/organization/usage/completions",
  "GET /v1/organization/usage/embeddings",
  "GET /v1/organization/usage/file_search_calls",
  "GET /v1/organization/usage/images",
  "GET /v1/organization/usage/moderations",
  "GET /v1/organization/usage/vector_stores",
  "GET /v1/organization/usage/web_search_calls",
  "GET /v1/skills",
  "POST /v1/skills",
  "GET /v1/skills/{skill_id}",
  "POST /v1/skills/{skill_id}",
  "DELETE /v1/skills/{skill_id}",
  "GET /v1/skills/{skill_id}/content",
  "GET /v1/skills/{skill_id}/versions",
  "POST /v1/skills/{skill_id}/versions",
  "GET /v1/skills/{skill_id}/versions/{version}",
  "DELETE /v1/skills/{skill_id}/versions/{version}",
  "GET /v1/skills/{skill_id}/versions/{version}/content",
];

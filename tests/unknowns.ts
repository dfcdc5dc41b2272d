/**
 * The requirements that hold each decision of `specs/` (`x-decision`) on a point where the reference is unknown: by
 * file, and path in it.
 */
export const DECISIONS: Readonly<Record<string, readonly string[]>> = {
  "chat-completions/openapi.yaml paths//v1/chat/completions/post": ["chat.tools.hosted-are-not-shown"],
  "messages/openapi.yaml paths//v1/messages/post": ["messages.tools.server-tools"],
  "audio/openapi.yaml paths//v1/audio/speech/post": [
    "audio.speech.voices",
    "audio.speech.formats",
    "audio.speech.refusals",
  ],
  "audio/openapi.yaml paths//v1/audio/transcriptions/post": [
    "audio.transcriptions.stream",
    "audio.transcriptions.granularities",
    "audio.transcriptions.refusals",
  ],
  "audio/openapi.yaml paths//v1/realtime/client_secrets/post": [
    "audio.secrets.of-their-key",
    "audio.secrets.open-sessions",
    "audio.secrets.refusals",
  ],
  "audio/realtime.yaml info": ["audio.realtime.semantic", "audio.realtime.addresses"],
  "cloud-stt/stream.yaml info": ["cloud.stream.rate-limit-waits-60-seconds", "cloud.stream.idle-drop"],
  "local-stt/openapi.yaml paths//healthz/get": ["stt.health.not-ok-while-loading"],
  "local-stt/openapi.yaml paths//stream/transcribe/post": [
    "stt.stream.no-transcript-without-flush-or-end",
    "stt.transcribe.not-ready-is-503",
  ],
  "local-stt/openapi.yaml paths//demo/key/post": ["stt.demo.key-for-own-page-only"],
  "local-stt/openapi.yaml paths//demo/chat/post/responses/500": ["stt.demo.daemon-not-running-is-500"],
  "local-stt/stream.yaml info": ["stt.stream.idle-timeout", "stt.stream.oversized-chunk"],
  "local-stt/stream.yaml channels/websocket": [
    "stt.websocket.orderly-close-code",
    "stt.websocket.binary-frame-closes",
    "stt.access.foreign-origin-refused",
  ],
  "responses-api/events.yaml channels/webSocketFrames": [
    "websocket.responses.broken-frame-keeps-socket",
    "websocket.responses.errors-in-turn",
    "websocket.responses.errors-at-once",
    "websocket.responses.cancel",
    "websocket.responses.unreadable-frames-close",
  ],
  "responses-api/openapi.yaml paths//v1/responses/post": [
    "dialect.scope.extension-request-opts-in",
    "errors.stage.after-creation-is-200-failed",
    "responses.stream.begins-without-its-model-server",
    "chat-engine.abort.client-leaves",
    "auth.key.missing-key-is-401",
    "errors.catalogue.string-too-long",
    "create.history.repeated-call",
    "create.history.repeated-output",
  ],
  "responses-api/openapi.yaml paths//v1/responses/post/responses/200": ["http.headers.ratelimit-on-every-create"],
  "responses-api/openapi.yaml paths//v1/responses/{response_id}/audio/get": [
    "responses.audio.plain-reply-points-to-sound",
  ],
  "responses-api/openapi.yaml paths//v1/responses/{response_id}/events/get": [
    "responses.replay.event-ids",
    "responses.replay.event-source-ends",
  ],
  "responses-api/openapi.yaml paths//v1/responses/{response_id}/get": [
    "responses.replay.as-long-as-kept",
    "state.store.expiry",
    "state.store.expiry-keeps-chains",
  ],
  "responses-api/openapi.yaml paths//v1/responses/{response_id}/delete": ["responses.delete.stops-a-running-response"],
  "responses-api/openapi.yaml paths//v1/responses/{response_id}/cancel/post": [
    "responses.cancel.never-sends-cancelled-event",
  ],
  "responses-api/openapi.yaml paths//v1/responses/{response_id}/input_items/get": [
    "input-items.content.exactly-what-was-supplied",
  ],
  "responses-api/openapi.yaml paths//v1/conversations/{conversation_id}/delete": [
    "conversations.concurrency.held-by-a-response",
    "state.erasure.deleted-conversations",
  ],
  "responses-api/openapi.yaml paths//v1/conversations/{conversation_id}/items/post": [
    "conversations.concurrency.held-by-a-response",
    "conversations.items.once",
  ],
  "responses-api/openapi.yaml paths//v1/conversations/{conversation_id}/items/{item_id}/delete": [
    "conversations.items.delete-one",
    "conversations.items.half-a-call",
  ],
  "responses-api/openapi.yaml paths//v1/embeddings/post": ["models.embeddings.limits", "models.embeddings.routes"],
  "responses-api/openapi.yaml paths//v1/files/{file_id}/content/get": ["files.upload.bytes-unchanged"],
  "responses-api/openapi.yaml components/parameters/OpenAIOrganization": [
    "auth.headers.reference-routing-names-accepted",
    "auth.headers.routing-means-nothing-to-unbound-keys",
  ],
  "responses-api/openapi.yaml components/parameters/ClientRequestId": ["auth.headers.client-request-id-is-bounded"],
  "responses-api/openapi.yaml components/parameters/CreateKey": [
    "responses.create-keys.one-response",
    "errors.catalogue.idempotency-key-reused",
  ],
  "responses-api/openapi.yaml components/parameters/OnceKey": [
    "responses.create-keys.other-operations",
    "responses.create-keys.refusals-do-not-count",
  ],
  "responses-api/openapi.yaml components/responses/NotOperator": ["usage.operators.only"],
  "responses-api/openapi.yaml components/responses/StorageFull": ["files.upload.full-disk-is-507"],
  "responses-api/openapi.yaml components/responses/TooLarge": ["transport.body.limit-is-413-json"],
  "responses-api/openapi.yaml components/responses/TooMany": [
    "errors.ratelimit.estimate-is-settled",
    "errors.ratelimit.larger-than-a-minute",
    "state.quota.per-owner",
  ],
  "schemas/content.yaml InputAudio": ["create.input.audio-content-part"],
  "schemas/events.yaml ResponseRefusalDeltaEvent": ["responses.stream.obfuscation-length"],
  "schemas/events.yaml ResponseAudioDeltaEvent": ["responses.stream.audio-is-base64"],
  "schemas/events.yaml ResponseAudioDoneEvent": [
    "extensions.audio.failing-voice",
    "extensions.audio.cancel-stops-the-voice",
  ],
  "schemas/events.yaml KeepaliveEvent": ["transport.sse.keep-alive-comment"],
  "schemas/files.yaml FilePurpose": ["files.upload.object-of-the-reference"],
  "schemas/content.yaml UrlCitation": ["tools.web.citation-indexes"],
  "schemas/files.yaml VectorStore": ["vector-stores.expiry.expired-is-refused"],
  "schemas/batches.yaml BatchEndpoint": ["batches.create.refused"],
  "schemas/files.yaml VectorStoreFileBatch": ["vector-stores.batches.counts"],
  "schemas/files.yaml VectorStoreSearchRanking/properties/ranker": [
    "vector-stores.search.rankers",
    "vector-stores.search.reranker",
  ],
  "schemas/files.yaml VectorStoreSearchRequest/properties/rewrite_query": ["vector-stores.search.rewrite-query"],
  "schemas/files.yaml VectorStoreSearchContent": ["vector-stores.search.overlaps-are-joined"],
  "schemas/files.yaml VectorStoreSearchResult/properties/score": ["vector-stores.search.score-scale"],
  "schemas/containers.yaml ContainerExpiresAfter": ["containers.expiry.idle"],
  "schemas/containers.yaml CreateContainerRequest/properties/name": ["containers.create.name-length"],
  "schemas/containers.yaml CreateContainerRequest/properties/skills": ["skills.containers.mounted"],
  "schemas/containers.yaml Container": ["containers.expiry.idle", "containers.expiry.expired-is-refused"],
  "schemas/containers.yaml DeletedContainer": ["containers.delete.erases"],
  "schemas/containers.yaml ContainerFile": ["containers.files.new-contents-new-id"],
  "schemas/containers.yaml DeletedContainerFile": ["containers.files.upload-and-download"],
  "schemas/skills.yaml Skill": ["skills.versions.pointers"],
  "schemas/skills.yaml SkillUpload": [
    "skills.create.front-matter",
    "skills.create.unsafe-archives",
    "skills.limits.refused",
  ],
  "schemas/items.yaml WebSearchCall": ["tools.web.failed-search-is-told"],
  "schemas/items.yaml McpCall": ["tools.mcp.pictures-are-named", "tools.mcp.unknown-outcome"],
  "schemas/tools.yaml McpToolInput": ["tools.mcp.approval-by-default", "tools.mcp.failed-list-refuses"],
  "schemas/responses.yaml WebSearchUsage": ["tools.web.only-searches-are-counted"],
  "schemas/items.yaml McpApprovalRequest": ["tools.mcp.questions-pause-a-call"],
  "schemas/items.yaml McpApprovalResponseInput": [
    "tools.mcp.approval-is-spent-once",
    "tools.mcp.approval-race-fails",
    "tools.mcp.answers-fit-questions",
  ],
  "schemas/items.yaml AdditionalToolsInput": ["tools.joined.additional-tools-are-plain"],
  "schemas/items.yaml ApplyPatchCall": ["tools.client-run.unfinished-holds-nothing"],
  "schemas/items.yaml ToolSearchOutput": ["tools.search.holds-back-mcp-servers"],
  "schemas/items.yaml ShellCall": ["tools.client-run.unfinished-holds-nothing"],
  "schemas/items.yaml LocalShellCallOutputInput": ["create.history.local-shell-output"],
  "schemas/items.yaml LocalShellCallOutputStored": ["create.history.local-shell-output"],
  "schemas/items.yaml Compaction": ["responses.compact.starts-at-latest"],
  "schemas/items.yaml ConfigurationUpdateInput": ["create.configuration.latest-update-counts"],
  "schemas/items.yaml AgentMessageInput": ["create.input.every-known-item-type"],
  "schemas/items.yaml InputItem": ["validation.items.unknown-type-param"],
  "schemas/responses.yaml TextFormatJsonSchema/properties/strict": [
    "create.text.json-schema-echo",
    "tools.function.strict-falls-back",
  ],
  "schemas/responses.yaml ConversationParam": [
    "conversations.run.unfinished-appends-nothing",
    "conversations.run.store-false-appends-nothing",
  ],
  "schemas/responses.yaml ContextManagement": [
    "create.compaction.threshold-compacts",
    "create.compaction.failure-keeps-answer",
  ],
  "schemas/responses.yaml Reasoning": ["create.reasoning.context-and-mode", "create.reasoning.echo-null-form"],
  "schemas/responses.yaml ModerationInput": ["create.ledger.newest-sdk-members"],
  "schemas/responses.yaml ImageContextInput": ["create.ledger.newest-sdk-members"],
  "schemas/responses.yaml BackgroundOptionsInput": ["create.ledger.newest-sdk-members"],
  "schemas/responses.yaml InputParam": ["limits.lists.items-and-tools"],
  "schemas/responses.yaml IncompleteDetails": ["runs.answer.limits"],
  ...Object.fromEntries(
    ["CreateResponseRequest", "InputTokensRequest", "ResponseCreateFrame"].map((schema) => [
      `schemas/responses.yaml ${schema}/properties/tools`,
      ["limits.lists.items-and-tools"],
    ]),
  ),
  "schemas/responses.yaml OutputAudio": ["extensions.audio.output-audio", "extensions.audio.failing-voice"],
  "schemas/responses.yaml CreateResponseRequest": [
    "validation.order.fields-in-reference-order",
    "validation.nulls.count-as-absent",
  ],
  ...Object.fromEntries(
    ["CreateResponseRequest", "InputTokensRequest", "ResponseCreateFrame", "CompactRequest"].map((schema) => [
      `schemas/responses.yaml ${schema}/properties/previous_response_id`,
      [
        "create.chain.from-a-conversation",
        "create.chain.deleted-ancestors",
        "create.chain.repeated-messages-once",
        "state.context.budget",
      ],
    ]),
  ),
  "schemas/responses.yaml CreateResponseRequest/properties/max_tool_calls": [
    "create.limits.max-tool-calls-ignores-the-rest",
  ],
  "schemas/responses.yaml ResponseCreateFrame/properties/max_tool_calls": [
    "create.limits.max-tool-calls-ignores-the-rest",
  ],
  "schemas/responses.yaml CreateResponseRequest/properties/truncation": ["create.context.truncation-auto-drops-oldest"],
  "schemas/responses.yaml InputTokensRequest/properties/truncation": ["responses.count.accepts-create-members"],
  "schemas/responses.yaml ResponseCreateFrame/properties/truncation": ["create.context.truncation-auto-drops-oldest"],
  "schemas/responses.yaml Response/properties/access_programs": ["response.body.golden-key-set"],
  "schemas/responses.yaml CompactRequest": ["responses.compact.needs-model"],
  "schemas/stt.yaml SttErrorCode": ["stt.errors.http-shape", "stt.errors.stream-shape"],
  "schemas/stt.yaml SttStreamError": ["stt.stream.error-keeps-acknowledged-audio", "stt.stream.error-is-last"],
  "schemas/stt.yaml ChunkMessage/properties/audio_base64": ["stt.stream.broken-base64"],
  "schemas/stt.yaml ChunkMessage/properties/sample_rate": ["stt.stream.sample-rate-is-honoured"],
  "schemas/stt.yaml ChunkMessage/properties/encoding": [
    "stt.stream.encoding-is-optional",
    "stt.stream.unsupported-encoding",
  ],
  "schemas/stt.yaml ChunkMessage/properties/last": [
    "stt.stream.last-acts-as-end",
    "stt.stream.same-on-both-transports",
  ],
  "schemas/stt.yaml SttClientMessage": ["stt.websocket.schema-break-closes", "stt.websocket.binary-frame-closes"],
  "schemas/stt.yaml AckMessage/properties/received_bytes": ["stt.stream.received-bytes-counts-audio"],
  "schemas/stt.yaml TranscriptFinalMessage/properties/full_text": ["stt.stream.full-text-covers-the-stream"],
  "schemas/stt.yaml TranscriptFinalMessage/properties/seq": ["stt.stream.final-positions"],
  "schemas/stt.yaml TranscriptFinalMessage/properties/start_ms": ["stt.stream.final-positions"],
  "schemas/stt.yaml ChunkMessage/properties/language": ["stt.stream.language"],
  "schemas/stt.yaml TranscribeForm/properties/language": ["stt.transcribe.language"],
  "schemas/stt.yaml TranscribeForm/properties/audio": ["stt.transcribe.reads-five-formats"],
  "schemas/stt.yaml SttAndFormatForm/properties/instruction": ["stt.format.combined-operation"],
  "schemas/stt.yaml FormatRequest/properties/assistive": ["stt.format.assistive-reaches-provider"],
  "schemas/stt.yaml FormatReply/properties/formatted": ["stt.format.provider-failure-keeps-text"],
  "schemas/stt.yaml SpeechHealth": ["stt.health.tells-model-and-formatter"],
  "schemas/stt.yaml FormattingHealth/properties/enabled": ["stt.format.refused-key-shows"],
  "schemas/stt.yaml FormattingHealth": ["stt.health.tells-model-and-formatter"],
  "schemas/stt.yaml Version": ["stt.version.build-metadata"],
  "schemas/stt.yaml DemoChatRequest": ["stt.demo.chat-answers"],
  "schemas/stt.yaml DemoKey": ["stt.demo.key-for-own-page-only"],
  "schemas/stt.yaml CloudAudioMessage": ["cloud.stream.interim-and-final", "cloud.stream.broken-message"],
  "schemas/stt.yaml CloudInterimMessage/properties/confidence": ["cloud.stream.interim-and-final"],
  "schemas/stt.yaml CloudErrorMessage": ["cloud.stream.broken-message", "cloud.client.typed-errors"],
  "schemas/tools.yaml FunctionToolInput/properties/strict": [
    "tools.function.strict-by-default",
    "tools.function.strict-falls-back",
  ],
  "schemas/tools.yaml ComparisonFilter": ["vector-stores.filters.types-never-convert"],
  "schemas/tools.yaml CompoundFilter": ["vector-stores.filters.limits"],
  "schemas/tools.yaml ToolChoiceMcp": ["create.ledger.nothing-dropped-in-silence"],
  "schemas/tools.yaml ToolChoiceHosted": ["create.ledger.nothing-dropped-in-silence"],
};

/**
 * Questions about the reference that no source answers, and where our choice is written. Questions about MCP are not
 * listed yet.
 */
export const OPEN_QUESTIONS: Readonly<Record<string, string>> = {
  "what a stream shows when its background response is cancelled":
    "responses-api/openapi.yaml paths//v1/responses/{response_id}/cancel/post",
  "what deleting an item of a conversation answers":
    "responses-api/openapi.yaml paths//v1/conversations/{conversation_id}/items/{item_id}/delete",
  "the texts of some errors": "responses-api/openapi.yaml paths//v1/responses/post",
  "the shape of sound that is sent": "schemas/content.yaml InputAudio",
  "whether sound can be asked for": "schemas/responses.yaml OutputAudio",
  "the events of a refusal": "schemas/events.yaml ResponseRefusalDeltaEvent",
  "the status of a plain response that fails half-way": "responses-api/openapi.yaml paths//v1/responses/post",
  "when keepalive comes, and whether it has a number": "schemas/events.yaml KeepaliveEvent",
  "what is left of a foreground stream whose client leaves": "responses-api/openapi.yaml paths//v1/responses/post",
  "the echo of a strict that was left out": "schemas/responses.yaml TextFormatJsonSchema/properties/strict",
  "the echo of a format of a custom tool that was left out": "schemas/tools.yaml CustomTool",
  "whether a response that is not stored enters its conversation": "schemas/responses.yaml ConversationParam",
  "the limits of X-Client-Request-Id": "responses-api/openapi.yaml components/parameters/ClientRequestId",
  "what a response made in a conversation is continued with":
    "schemas/responses.yaml CreateResponseRequest/properties/previous_response_id",
  "whether deleting a response breaks those that continue it":
    "schemas/responses.yaml CreateResponseRequest/properties/previous_response_id",
  "whether messages that the chain holds count twice when they are sent again":
    "schemas/responses.yaml CreateResponseRequest/properties/previous_response_id",
  "what becomes of a call whose output is deleted":
    "responses-api/openapi.yaml paths//v1/conversations/{conversation_id}/items/{item_id}/delete",
  "for how long the items of a deleted conversation stay":
    "responses-api/openapi.yaml paths//v1/conversations/{conversation_id}/delete",
  "what WebSocket mode does with what it does not understand": "responses-api/events.yaml channels/webSocketFrames",
};

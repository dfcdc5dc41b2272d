/** A model that looks for herons in the files of a store and cites the first file that it is told. */
export const FILE_SEARCH_SCENARIOS = `
models: [gpt-5-mini]
scenarios:
  - when: { input_contains: herons, has_tool_output: false }
    events: [{ call: { name: file_search, arguments: { queries: [heron hunting] } } }]
  - when: { input_contains: herons }
    events: [{ text: { chunks: [They wait., "【fi", "le:1】 Yes."] } }]
`;

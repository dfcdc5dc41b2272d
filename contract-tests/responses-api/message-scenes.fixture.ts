/** Scenarios of the built-in engine for states that no request alone can cause. */
export const SCENARIO = `
scenarios:
  - when: { input_contains: "play: refuse" }
    events: [{ refusal: I would rather not. }]
  - when: { input_contains: "play: cite" }
    events:
      - text: Paris is in France.
      - annotation: { type: url_citation, start_index: 0, end_index: 5, url: "https://example.com/paris", title: Paris }
      - annotation: { type: file_citation, file_id: file_paris, filename: paris.pdf, index: 5 }
      - annotation: { type: container_file_citation, container_id: cntr_paris, file_id: cfile_paris, filename: paris.csv, start_index: 0, end_index: 5 }
      - annotation: { type: file_path, file_id: file_paris, index: 5 }
  - when: { input_contains: "play: summarise" }
    events: [{ reasoning_summary: ["**Thinking**"] }, { text: Done. }]
  - when: { input_contains: "play: think" }
    events: [{ reasoning: I think. }, { text: Done. }]
  - when: { input_contains: "play: comment" }
    events: [{ message: { phase: commentary } }, { text: Let me see. }, { message: { phase: final_answer } }, { text: Done. }]
  - when: { input_contains: "play: call twice" }
    events:
      - call: { name: get_weather, arguments: { city: Rome } }
      - call: { name: get_time, arguments: { city: Rome } }
  - when: { input_contains: "play: look for tools" }
    events: [{ raw: { type: tool_search, callId: call_search, arguments: { query: weather } } }]
  - when: { input_contains: "play: filter" }
    events: [{ text: The sea }, { delay_ms: 100 }, { finish: content_filter }] # Long enough for a sign of life.
  - when: { input_contains: "play: slowly" }
    events: [{ text: The sea }, { delay_ms: 400 }, { text: " is blue." }]
  - when: { input_contains: "play: hold" }
    events: [{ text: The sea }, { delay_ms: 60000 }, { text: " is blue." }]
  - when: { input_contains: "play: call late" }
    events: [{ text: Let me look. }, { delay_ms: 3000 }, { call: { name: get_weather, arguments: { city: Rome } } }]
  - when: { input_contains: "play: speak" }
    events: [{ text: Hello there. }]
  - when: { input_contains: "play: no quota" }
    events: [{ refuse_turn: { status: 429, type: insufficient_quota, code: insufficient_quota, message: The quota is used up. } }]
  - when: { input_contains: "play: break off" }
    events:
      - text: So far so
      - error: { status: 500, type: server_error, code: server_error, message: The model broke off. }
  - when: { input_contains: "use a tool:", has_tool_output: true }
    events: [{ text: Done. }]
  - when: { input_contains: "use a tool: search the web" }
    events: [{ call: { name: web_search, arguments: { queries: [weather in Rome] } } }]
  - when: { input_contains: "use a tool: files" }
    events: [{ call: { name: file_search, arguments: { queries: [weather in Rome] } } }]
  - when: { input_contains: "use a tool: none" }
    events: [{ text: I need none. }]
  - when: { input_contains: "use a tool: weather" }
    events: [{ call: { name: get_weather, namespace: weather, arguments: { city: Rome } } }]
  - when: { input_contains: "use a tool: storms" }
    events: [{ call: { name: get_storms, namespace: weather, arguments: { city: Rome } } }]
  - when: { input_contains: "use a tool: draw" }
    events: [{ call: { name: generate_image, arguments: { prompt: A lighthouse. } } }]
  - when: { input_contains: "use a tool: python" }
    events: [{ call: { name: code_interpreter, arguments: { code: "print(1 + 1)" } } }]
  - when: { input_contains: "use a tool: commands" }
    events: [{ call: { name: shell, arguments: { commands: [echo notes.txt] } } }]
  - when: { input_contains: "use a tool: shell" }
    events: [{ call: { name: shell, arguments: { commands: [ls], max_output_length: 8192 } } }]
  - when: { input_contains: "use a tool: local shell" }
    events: [{ call: { name: local_shell, arguments: { command: [ls] } } }]
  - when: { input_contains: "use a tool: patch" }
    events: [{ call: { name: apply_patch, arguments: { operation: { type: update_file, path: notes.txt, diff: +hello } } } }]
  - when: { input_contains: "use a tool: preview of a computer" }
    events: [{ call: { name: computer, arguments: { action: { type: wait } } } }]
  - when: { input_contains: "use a tool: computer" }
    events: [{ call: { name: computer, arguments: { actions: [{ type: screenshot }, { type: wait }] } } }]
  - when: { input_contains: "use a tool: find tools" }
    events: [{ call: { name: tool_search, arguments: { query: weather } } }]
`;

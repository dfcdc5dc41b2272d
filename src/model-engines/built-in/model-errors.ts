import { ModelError } from "../../runs/ports/model-error.ts";

const CALLER_FAULT = { status: 400, type: "invalid_request_error" } as const;
const SERVER_FAULT = { status: 500, type: "server_error", code: "server_error" } as const;

export function modelNotFound(model: string): ModelError {
  return new ModelError(`The requested model '${model}' does not exist.`, {
    ...CALLER_FAULT,
    code: "model_not_found",
    param: "model",
  });
}

export function inputTooLong(): ModelError {
  const message = "Your input exceeds the context window of this model. Please adjust your input and try again.";
  return new ModelError(message, { ...CALLER_FAULT, code: "context_length_exceeded", param: "input" });
}

export function unsupportedTool(type: string, position: number): ModelError {
  const message = `Tools of type '${type}' are not available with the built-in engine.`;
  return new ModelError(message, { ...CALLER_FAULT, code: "unsupported_parameter", param: `tools[${position}]` });
}

export function unsupportedChoice(type: string): ModelError {
  const message = `Tool choice '${type}' is not available with the built-in engine.`;
  return new ModelError(message, { ...CALLER_FAULT, code: "unsupported_parameter", param: "tool_choice" });
}

export function chosenToolMissing(name: string): ModelError {
  return new ModelError(`Tool choice '${name}' not found in 'tools' parameter.`, {
    ...CALLER_FAULT,
    param: "tool_choice",
  });
}

export function requiredWithoutTools(): ModelError {
  return new ModelError("Tool choice 'required' must be specified with 'tools' parameter.", {
    ...CALLER_FAULT,
    param: "tool_choice",
  });
}

export function failureAsked(): ModelError {
  return new ModelError("The built-in engine failed because it was asked to.", SERVER_FAULT);
}

export function noScenarioFits(): ModelError {
  const message = "No scenario of the built-in engine's scenario file fits this request, and its fallback is 'error'.";
  return new ModelError(message, SERVER_FAULT);
}

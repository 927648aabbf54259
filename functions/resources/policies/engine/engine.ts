/** The interface of policy engines. They evaluate in the control plane, in a child process. */

export interface SourceFile {
  /** Relative to the set; never absolute or with `..`. */
  path: string;
  content: string;
}

export interface Limits {
  /** Limit for one policy. */
  seconds: number;
  /** Limit for the engine's process. */
  memoryMiB: number;
  /** Limit for the engine's output. */
  outputBytes: number;
  /** End of the whole evaluation, ms since the epoch. */
  deadline: number;
}

/** Policies that are loaded together, and their queries. */
export interface EvaluationRequest {
  files: SourceFile[];
  policies: { name: string; query: string }[];
  /** A policy set's parameters, by key. */
  parameters: Record<string, string>;
  /** The input document (input.ts). */
  input: InputFile;
  /** Engine version that the set requires; empty: any. */
  toolVersion: string;
  limits: Limits;
}

export interface InputFile {
  /** Absolute path of a JSON file. */
  path: string;
}

/** `value` is the policy's return value, as JSON. */
export type PolicyAnswer = { value: unknown } | { error: string };

export interface EvaluationResult {
  /** In the order of the policies. */
  answers: PolicyAnswer[];
  /** Problems that did not prevent the evaluation, shown to users. */
  warnings: string[];
}

export interface Engine {
  /** `1.19.0` */
  version: string;
  evaluate(question: EvaluationRequest): Promise<EvaluationResult>;
  /** The error for which an evaluation fails with any input; undefined if there is none. */
  compile?(question: Omit<EvaluationRequest, 'input'>): Promise<string | undefined>;
}

/** The interface of policy engines. They evaluate in the control plane, in a child process. */

export interface SourceFile {
  /** Relative, inside the set; never `..` or absolute. */
  path: string;
  content: string;
}

export interface Limits {
  /** For one policy. */
  seconds: number;
  /** Of the engine's process. */
  memoryMiB: number;
  /** Of its output. */
  outputBytes: number;
  /** End of the whole evaluation, ms since the epoch. */
  deadline: number;
}

/** Policies that are loaded together, with their queries. */
export interface EvaluationRequest {
  files: SourceFile[];
  policies: { name: string; query: string }[];
  /** A policy set's parameters, by key. */
  parameters: Record<string, string>;
  /** The input document (input.ts). */
  input: InputFile;
  /** Of the engine that the set was written for; empty: any. */
  toolVersion: string;
  limits: Limits;
}

export interface InputFile {
  /** Absolute. JSON. */
  path: string;
}

/** `value` is what the policy returned, as JSON. */
export type PolicyAnswer = { value: unknown } | { error: string };

export interface EvaluationResult {
  /** In the order of the policies. */
  answers: PolicyAnswer[];
  /** Problems that did not prevent the evaluation, for people. */
  warnings: string[];
}

export interface Engine {
  /** `1.19.0` */
  version: string;
  evaluate(question: EvaluationRequest): Promise<EvaluationResult>;
}

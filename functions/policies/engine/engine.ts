/** What every policy engine is asked and answers. Evaluation happens in the control plane, in a process of its own. */

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
  /** Of what it may say. */
  outputBytes: number;
  /** When everything must be over, ms since the epoch. */
  deadline: number;
}

/** Policies that are loaded together, with what they are asked. */
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
  /** For people: what went wrong without keeping a policy from being judged. */
  warnings: string[];
}

export interface Engine {
  /** `1.19.0` */
  version: string;
  evaluate(question: EvaluationRequest): Promise<EvaluationResult>;
}

import type { EnforcementLevel, PolicyKind } from '#run/policies.ts';

/** An individually managed policy, with the object that holds its source. */
export interface FrozenPolicy {
  name: string;
  description: string;
  query: string | null;
  enforcementLevel: EnforcementLevel;
  contentKey?: string;
}

/** The policies of a set, without its name and parameters. */
export interface PolicyContent {
  kind: PolicyKind;
  /** Version of the engine; empty: any. */
  toolVersion: string;
  /** Of a versioned set. */
  bundleKey?: string;
  /** Policies of a set with individually managed ones. */
  policies?: FrozenPolicy[];
}

export interface Compilation {
  /** Why they do not compile: `policy.rego line 2: …`. */
  error?: string;
  /** Why they could not be compiled, although they may be correct. */
  uncompiled?: string;
}

export type Compile = (content: PolicyContent) => Promise<Compilation>;

import type { Method } from '#api/route.ts';
import type { Grants, Permission } from './grants.ts';
import type { VariableGroup } from './variables.ts';

/**
 * Code, permissions and routes of a Lambda function: one file per function in infra/functions/. The local platform and
 * the bundler read these too, so neither this module nor those files load the CDK.
 */
export interface Declaration {
  /** Module that exports `handler`, relative to the checkout's root. */
  entry: string;
  description: string;
  timeoutSeconds: number;
  /** Defaults to 512. */
  memoryMiB?: number;
  environment: VariableGroup[];
  /**
   * Why it may invoke itself, directly or through others: Lambda ends other chains of 16 invocations (Lambda: recursive
   * loop detection).
   */
  recursion?: string;
  /** In addition to its own log. */
  rights(may: Grants): Permission[];
}

/** A function behind API Gateway. */
export interface HttpDeclaration extends Declaration {
  http: {
    /** Routes of the function's own router; route keys are derived from them. */
    routes?(): Promise<{ method: Method; path: `/${string}` }[]>;
    /** Route keys of whole subtrees: the function serves every path in them. */
    subtrees?: string[];
    /** Why API Gateway has no authorizer for it. */
    authorization: string;
    /** Exempt from the public API's throttling: its clients fail on a 429. */
    unlimited?: true;
  };
}

/** A function behind states of the machine. */
export interface StateDeclaration extends Declaration {
  /**
   * `waits`: keeps its task token with the run, and may resume the run itself. `works`: the state machine uses its
   * result.
   */
  state: 'waits' | 'works';
}

/** Why API Gateway has no authorizer for the public API. */
export const bearer =
  'The function checks bearer tokens (stored hashed) and permissions itself: clients of the HCP Terraform API have no IAM or JWT credentials';

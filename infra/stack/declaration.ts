import type { Method } from '#api/route.ts';
import type { Grants, Permission } from './grants.ts';
import type { VariableGroup } from './variables.ts';

/**
 * What a Lambda function is, may do and how it is reached: one file for each in infra/functions/. The local platform and
 * the bundler read these too, so neither this nor they load the CDK.
 */
export interface Declaration {
  /** Module that exports `handler`, from the checkout's root. */
  entry: string;
  description: string;
  timeoutSeconds: number;
  /** 512 when nothing is said. */
  memoryMiB?: number;
  environment: VariableGroup[];
  /** Beside writing its own log. */
  rights(may: Grants): Permission[];
}

/** A function behind API Gateway. */
export interface HttpDeclaration extends Declaration {
  http: {
    /** Routes that the function's own router knows: route keys are derived from them. */
    routes?(): Promise<{ method: Method; path: `/${string}` }[]>;
    /** Route keys of whole subtrees, which it answers whatever the path. */
    subtrees?: string[];
    /** Why API Gateway has no authorizer for it. */
    authorization: string;
    /** Never refused before the public API: its clients do not survive a 429. */
    unlimited?: true;
  };
}

/** A function behind states of the machine. */
export interface StateDeclaration extends Declaration {
  /** A function that waits keeps its task token with the run, and may answer it; one that works is never waited for. */
  state: 'waits' | 'works';
}

/** Why API Gateway has no authorizer for the public API. */
export const bearer =
  'The function checks bearer tokens (stored hashed) and permissions itself: clients of the HCP Terraform API bring no IAM or JWT credentials';

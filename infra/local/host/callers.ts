import { createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Access, Permissions } from '#infra/local/aws/iam/iam.ts';
import { type Signature, verify } from '#infra/local/aws/iam/signature.ts';
import type { Credentials, FunctionProperties } from '#infra/local/aws/lambda/lambda.ts';
import { AwsError } from './errors.ts';
import type { OperatorCredentials } from './operator-client.ts';
import type { Resource } from './template.ts';

/** The caller: a function with its role, or the operator of this machine, who is allowed everything. */
export interface Caller {
  name: string;
  /** Throws AwsError AccessDeniedException. */
  check(access: Access): void;
  may(access: Access): boolean;
}

const operator: Caller = { name: 'operator', check: () => {}, may: () => true };

export const isOperator = (caller: Caller): boolean => caller === operator;

/**
 * Creates and recognizes credentials. Every signature is verified as on AWS, also the operator's: the listener is on
 * the loopback interface, which other users of this machine can reach, among them Terraform in a run. Only users who
 * can read `local.json` have the operator's key; it never crosses a connection (decisions/0146).
 */
export class Callers {
  readonly #secret: Buffer;
  readonly #callers = new Map<
    string,
    { caller: Caller; credentials: OperatorCredentials & { sessionToken?: string } }
  >();

  constructor(secret: Buffer, functions: Resource<FunctionProperties>[], permissions: Permissions) {
    this.#secret = secret;
    for (const { id, properties, ref } of functions) {
      const check = (access: Access) => permissions.check(properties.Role, `function ${ref}`, access);
      const may = (access: Access) => {
        try {
          check(access);
          return true;
        } catch {
          return false;
        }
      };
      const credentials = this.credentialsOf(id);
      this.#callers.set(credentials.accessKeyId, { credentials, caller: { name: ref, check, may } });
    }
    const credentials = this.operatorCredentials;
    this.#callers.set(credentials.accessKeyId, { credentials, caller: operator });
  }

  /** The same after a restart, so that earlier signed URLs stay valid. */
  credentialsOf(functionId: string): Credentials {
    const derive = (purpose: string) =>
      createHmac('sha256', this.#secret).update(`${purpose} ${functionId}`).digest('base64url');
    return {
      accessKeyId: accessKeyOf(functionId),
      secretAccessKey: derive('secret'),
      sessionToken: derive('session'),
    };
  }

  /** A function that this process hosts. */
  callerOf(functionId: string): Caller {
    return this.#callers.get(accessKeyOf(functionId))!.caller;
  }

  /** Credentials with all permissions. */
  get operatorCredentials(): OperatorCredentials {
    const { accessKeyId, secretAccessKey } = this.credentialsOf('Operator');
    return { accessKeyId, secretAccessKey };
  }

  /** @throws AwsError 403 without a signature, or if it does not match the caller's credentials */
  identify(request: IncomingMessage, signature: Signature | undefined, payloadHash: string): Caller {
    if (!signature) throw new AwsError('MissingAuthenticationToken', 'Request is missing Authentication Token', 403);
    const known = this.#callers.get(signature.accessKeyId);
    if (!known)
      throw new AwsError(signature.service === 's3' ? 'InvalidAccessKeyId' : 'InvalidClientTokenId', unknownKey, 403);
    if (signature.sessionToken !== known.credentials.sessionToken)
      throw new AwsError('UnrecognizedClientException', 'The security token included in the request is invalid.', 403);
    verify(request, signature, known.credentials.secretAccessKey, payloadHash);
    return known.caller;
  }
}

const accessKeyOf = (functionId: string): string => `ASIALOCAL${functionId}`;

const unknownKey =
  'Unknown access key. The operator of this platform signs with awsCredentials from local.json in its data folder.';

import { createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { AwsError } from './errors.ts';
import type { Access, Permissions } from './iam.ts';
import type { Credentials, FunctionProperties } from './lambda.ts';
import { isOperator } from './peer.ts';
import { type Signature, verify } from './signature.ts';
import type { Resource } from './template.ts';

/** Who makes a call: a function with its role, or the operator of this machine, who may do everything. */
export interface Caller {
  name: string;
  /** Throws AwsError AccessDeniedException. */
  check(access: Access): void;
  may(access: Access): boolean;
}

const operator: Caller = { name: 'operator', check: () => {}, may: () => true };

/**
 * Creates and recognizes credentials. A function's key must be genuine: its signature is verified like AWS does. Any
 * other key is the operator's and is not verified, as with other local AWS endpoints: the listener is on the loopback
 * interface, runners get no credentials at all, and Terraform is turned away where it is another user (peer.ts).
 */
export class Callers {
  readonly #secret: Buffer;
  readonly #callers = new Map<string, { caller: Caller; credentials: Credentials }>();

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
  }

  /** The same after a restart, so that URLs that were signed before stay good. */
  credentialsOf(functionId: string): Credentials {
    const derive = (purpose: string) =>
      createHmac('sha256', this.#secret).update(`${purpose} ${functionId}`).digest('base64url');
    return {
      accessKeyId: accessKeyOf(functionId),
      secretAccessKey: derive('secret'),
      sessionToken: derive('session'),
    };
  }

  /** A function that is hosted here. */
  callerOf(functionId: string): Caller {
    return this.#callers.get(accessKeyOf(functionId))!.caller;
  }

  /** @throws AwsError 403 when there is no signature, or not one that the function's credentials make */
  identify(request: IncomingMessage, signature: Signature | undefined, payloadHash: string): Caller {
    if (!signature) throw new AwsError('MissingAuthenticationToken', 'Request is missing Authentication Token', 403);
    const known = this.#callers.get(signature.accessKeyId);
    if (!known) {
      if (signature.expires !== undefined || isFromPage(request))
        throw new AwsError(
          'InvalidAccessKeyId',
          'Only functions make presigned URLs, and pages use nothing else.',
          403,
        );
      if (!isOperator(request.socket)) throw new AwsError('AccessDeniedException', notOperator, 403);
      return operator;
    }
    if (signature.sessionToken !== known.credentials.sessionToken)
      throw new AwsError('UnrecognizedClientException', 'The security token included in the request is invalid.', 403);
    verify(request, signature, known.credentials.secretAccessKey, payloadHash);
    return known.caller;
  }
}

const accessKeyOf = (functionId: string): string => `ASIALOCAL${functionId}`;

export const notOperator = 'Only root on this machine may act as its operator: Terraform of a run may not.';

/** The loopback interface keeps other machines out, but not what a browser on this one has open. */
export const isFromPage = ({ headers: { host = '', origin } }: IncomingMessage): boolean =>
  origin !== undefined || !/^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(host);

import { StartError } from '#infra/local/host/errors.ts';
import type { Stack } from '#infra/local/host/template.ts';
import type { Permissions } from '../iam/iam.ts';

interface PermissionProperties {
  FunctionName: string;
  Principal: string;
  SourceArn?: string;
}

/** Callers without a role that may invoke a function: the template's resource policies (AWS::Lambda::Permission). */
export class Invokers {
  readonly #permissions: PermissionProperties[];

  constructor(stack: Stack) {
    this.#permissions = stack.all<PermissionProperties>('AWS::Lambda::Permission').map(({ properties }) => properties);
  }

  /**
   * @param service e.g. `events.amazonaws.com`
   * @param what the caller in error messages
   * @throws StartError if AWS would refuse the invocation, so that the start fails instead of an event
   */
  check(service: string, sourceArn: string, functionArn: string, what: string): void {
    const name = functionArn.split(':').at(-1);
    const allowed = this.#permissions.some(
      ({ FunctionName, Principal, SourceArn }) =>
        Principal === service &&
        (FunctionName === functionArn || FunctionName === name) &&
        (SourceArn === undefined || covers(SourceArn, sourceArn)),
    );
    if (!allowed)
      throw new StartError(`${what} may not invoke function ${name}: the template has no permission for ${service}`);
  }
}

const covers = (pattern: string, arn: string): boolean =>
  pattern === arn || (pattern.endsWith('*') && arn.startsWith(pattern.replace(/\*.*$/, '')));

/** The machine's role must allow its invocations, as on AWS. Throws AwsError AccessDeniedException. */
export const checkMachine = (permissions: Permissions, roleArn: string, machine: string, functionArn: string): void =>
  permissions.check(roleArn, `state machine ${machine}`, { action: 'lambda:InvokeFunction', resource: functionArn });

/**
 * The role of a route's integration must allow its invocation. Throws StartError, because API Gateway would report this
 * only to clients.
 */
export const checkRoute = (permissions: Permissions, roleArn: string, key: string, functionArn: string): void => {
  try {
    permissions.check(roleArn, `API Gateway, for route ${key},`, {
      action: 'lambda:InvokeFunction',
      resource: functionArn,
    });
  } catch (error) {
    throw new StartError((error as Error).message, { cause: error });
  }
};

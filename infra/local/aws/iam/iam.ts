import { AwsError, StartError } from '#infra/local/host/errors.ts';
import type { Stack } from '#infra/local/host/template.ts';

/** One call as IAM sees it: action, resource, and the condition keys that the service supplies. */
export interface Access {
  /** e.g. `dynamodb:GetItem`. */
  action: string;
  resource: string;
  context?: Record<string, string>;
}

/** Receives every decision. @param role name or ARN */
export type OnDecision = (role: string, access: Access, isAllowed: boolean) => void;

interface Statement {
  effect: 'Allow' | 'Deny';
  actions: RegExp[];
  resources: RegExp[];
  conditions: ((context: Record<string, string>) => boolean)[];
}

interface RawStatement {
  Effect: 'Allow' | 'Deny';
  Action?: string | string[];
  Resource?: string | string[];
  Condition?: Record<string, Record<string, string | string[]>>;
}

interface PolicyProperties {
  PolicyDocument: { Statement: RawStatement[] };
  Roles?: string[];
}

interface RoleProperties {
  Policies?: PolicyProperties[];
}

const list = <T>(value: T | T[] | undefined): T[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value];

const glob = (pattern: string, flags = ''): RegExp =>
  new RegExp(
    `^${pattern
      .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
    `s${flags}`,
  );

/**
 * The statements of the template's roles (IAM: policy evaluation, identity policies only; key, bucket and endpoint
 * policies are ignored). A condition operator that is not supported stops the start, so that no condition is silently
 * ignored.
 */
export class Permissions {
  readonly #roles = new Map<string, Statement[]>();
  /** Statements that match an action and a resource, by role: every call repeats the same few lookups. */
  readonly #applicable = new Map<string, Statement[]>();
  readonly #onDecision: OnDecision | undefined;

  constructor(stack: Stack, onDecision?: OnDecision) {
    this.#onDecision = onDecision;
    for (const role of stack.all<RoleProperties>('AWS::IAM::Role'))
      this.#roles.set(
        role.ref,
        list(role.properties.Policies).flatMap((policy) => compile(policy, role.id)),
      );
    for (const type of ['AWS::IAM::Policy', 'AWS::IAM::ManagedPolicy'])
      for (const policy of stack.all<PolicyProperties>(type)) {
        const statements = compile(policy.properties, policy.id);
        for (const role of list(policy.properties.Roles)) this.#roles.get(role)?.push(...statements);
      }
  }

  /**
   * @param role name or ARN
   * @param who the caller in error messages
   * @throws AwsError AccessDeniedException (403) that names caller, action and resource
   */
  check(role: string, who: string, access: Access): void {
    const refusal = this.#refusal(role, access);
    this.#onDecision?.(role, access, refusal === undefined);
    if (refusal) throw denied(who, access.action, access.resource, refusal);
  }

  /** @param role name or ARN */
  allows(role: string, access: Access): boolean {
    return this.#refusal(role, access) === undefined;
  }

  #refusal(role: string, { action, resource, context = {} }: Access): string | undefined {
    const applicable = this.#about(role, action, resource).filter(({ conditions }) =>
      conditions.every((holds) => holds(context)),
    );
    if (applicable.some(({ effect }) => effect === 'Deny')) return 'with an explicit deny';
    return applicable.length ? undefined : 'because no statement of its role allows it';
  }

  #about(role: string, action: string, resource: string): Statement[] {
    const id = `${role}\n${action}\n${resource}`;
    const before = this.#applicable.get(id);
    if (before) return before;
    const applicable = (this.#roles.get(role.split('/').at(-1) ?? role) ?? []).filter(
      ({ actions, resources }) =>
        actions.some((pattern) => pattern.test(action)) && resources.some((pattern) => pattern.test(resource)),
    );
    if (this.#applicable.size >= maxApplicable) this.#applicable.clear();
    this.#applicable.set(id, applicable);
    return applicable;
  }
}

/** Each object is a resource of its own. */
const maxApplicable = 5_000;

const denied = (who: string, action: string, resource: string, why: string): AwsError =>
  new AwsError(
    'AccessDeniedException',
    `${who} is not authorized to perform: ${action} on resource: ${resource} ${why}`,
    403,
  );

const compile = ({ PolicyDocument }: PolicyProperties, id: string): Statement[] =>
  list(PolicyDocument.Statement).map((raw) => {
    if (!raw.Action || !raw.Resource)
      throw new StartError(`${id}: the local platform reads only statements with Action and Resource`);
    return {
      effect: raw.Effect,
      actions: list(raw.Action).map((action) => glob(action, 'i')),
      resources: list(raw.Resource).map((resource) => glob(resource)),
      conditions: Object.entries(raw.Condition ?? {}).flatMap(([operator, keys]) =>
        Object.entries(keys).map(([key, values]) => condition(operator, key, list(values).map(String), id)),
      ),
    };
  });

const condition = (operator: string, key: string, values: string[], id: string) => {
  const name = key.toLowerCase();
  const value = (context: Record<string, string>) =>
    Object.entries(context).find(([k]) => k.toLowerCase() === name)?.[1];
  switch (operator) {
    case 'StringEquals':
      return (context: Record<string, string>) => values.includes(value(context) ?? '');
    // Each condition key has one value per call here.
    case 'ForAnyValue:StringLike':
    case 'ForAnyValue:ArnEquals':
    case 'StringLike':
    case 'ArnEquals':
    case 'ArnLike': {
      const patterns = values.map((v) => glob(v));
      return (context: Record<string, string>) => {
        const actual = value(context);
        return actual !== undefined && patterns.some((pattern) => pattern.test(actual));
      };
    }
    case 'Bool':
      return (context: Record<string, string>) => values.includes(value(context) ?? 'false');
    default:
      throw new StartError(`${id}: condition operator ${operator} is not supported by the local platform`);
  }
};

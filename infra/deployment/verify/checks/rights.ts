import { DescribeTaskDefinitionCommand, ECSClient } from '@aws-sdk/client-ecs';
import { elements } from '#clients/cli/account-checks.ts';
import { query } from '#clients/cli/ask-aws.ts';
import { type Check, differs, expect, ok, skipped } from '../check.ts';
import { type Batch, type Context, deployedRights } from '../deployed-rights.ts';
import type { Target } from '../target.ts';

interface Decision {
  action: string;
  resource: string;
  isAllowed: boolean;
}

/**
 * IAM has one result for each action, with one for each resource in it; its own decision is the strictest of them (IAM
 * API: EvaluationResult). With one resource there may be none in it.
 */
const decisionsIn = (xml: string): Decision[] =>
  xml
    .split('<EvalActionName>')
    .slice(1)
    .flatMap((result) => {
      const action = result.slice(0, result.indexOf('<'));
      const nested = /<ResourceSpecificResults>(.*)<\/ResourceSpecificResults>/s.exec(result)?.[1] ?? '';
      const isNested = nested.includes('<EvalResourceName>');
      const resources = elements(isNested ? nested : result, 'EvalResourceName');
      const decisions = elements(isNested ? nested : result, isNested ? 'EvalResourceDecision' : 'EvalDecision');
      return resources.map((resource, n) => ({ action, resource, isAllowed: decisions[n] === 'allowed' }));
    });

const attempts = 8;

class NotSimulated extends Error {}

/** @throws {NotSimulated} with IAM's reason */
const request = async ({ caller }: Target, parameters: Record<string, string>): Promise<string> => {
  for (let attempt = 1; ; attempt++) {
    const { ok: isOk, text } = await query('iam', caller, { Version: '2010-05-08', ...parameters });
    if (isOk) return text;
    const reason = elements(text, 'Message')[0] ?? text.slice(0, 100);
    // IAM throttles with status 400.
    if (attempt === attempts || !elements(text, 'Code').includes('Throttling')) throw new NotSimulated(reason);
    await new Promise((resolve) => setTimeout(resolve, 100 * 2 ** attempt * (0.5 + Math.random())));
  }
};

const simulate = async (
  target: Target,
  role: string,
  { actions, resources }: Batch,
  context: Context,
  listKeys: Set<string>,
): Promise<Decision[]> => {
  const members = (name: string, values: string[]) => values.map((value, n) => [`${name}.member.${n + 1}`, value]);
  const entries = Object.entries(context).flatMap(([key, value], n) => {
    const entry = `ContextEntries.member.${n + 1}`;
    return [
      [`${entry}.ContextKeyName`, key],
      [`${entry}.ContextKeyType`, listKeys.has(key) ? 'stringList' : 'string'],
      [`${entry}.ContextKeyValues.member.1`, value],
    ];
  });
  const parameters = {
    Action: 'SimulatePrincipalPolicy',
    PolicySourceArn: role,
    MaxItems: '1000',
    ...Object.fromEntries([...members('ActionNames', actions), ...members('ResourceArns', resources), ...entries]),
  };
  const decisions: Decision[] = [];
  for (let marker: string | undefined, first = true; first || marker; first = false) {
    const text = await request(target, marker ? { ...parameters, Marker: marker } : parameters);
    decisions.push(...decisionsIn(text));
    marker = elements(text, 'IsTruncated')[0] === 'true' ? elements(text, 'Marker')[0] : undefined;
  }
  const number = new Set(decisions.map(({ action, resource }) => `${action} ${resource}`)).size;
  if (number < actions.length * resources.length)
    throw new NotSimulated(`${number} decisions for ${actions.length} actions on ${resources.length} resources`);
  return decisions;
};

/** The role of a task with customers' code has to be one whose rights are checked. */
const checkRoleOfRuns = async ({ taskDefinition: name }: Target, roles: string[]): Promise<void> => {
  const { taskDefinition } = await new ECSClient({}).send(new DescribeTaskDefinitionCommand({ taskDefinition: name }));
  const role = taskDefinition?.taskRoleArn ?? '';
  expect(roles.includes(role), `the role of runs, ${role}, is not of the stack`);
};

const rolesAtOnce = 4;

export const rights: Check = {
  name: 'rights',
  proves:
    'IAM gives each role exactly the rights of the deployed template, on all resources of all roles (SimulatePrincipalPolicy); the role of runs has none',
  documented: 'every other action is denied, and rights with a condition without it',
  async perform({ target }) {
    if (target.kind === 'local') return skipped('one machine has no IAM to simulate: its endpoint checks every call');
    const isEmulator = target.kind === 'emulator';
    const deployed = await deployedRights(target);
    await checkRoleOfRuns(
      target,
      deployed.roles.map(({ arn }) => arn),
    );
    // Emulators know no condition keys.
    const contexts = isEmulator ? deployed.contexts.slice(0, 1) : deployed.contexts;
    const added: string[] = [];
    const missing: string[] = [];
    const numbers = { allowed: 0, denied: 0 };
    const checkRole = async ({ id, arn }: { id: string; arn: string }): Promise<void> => {
      for (const batch of deployed.batches)
        for (const context of deployed.isConditional(batch) ? contexts : contexts.slice(0, 1))
          for (const one of await simulate(target, arn, batch, context, deployed.listKeys)) {
            const { action, resource, isAllowed } = one;
            numbers[isAllowed ? 'allowed' : 'denied'] += 1;
            if (isAllowed === deployed.isAllowed(arn, action, resource, context)) continue;
            (isAllowed ? added : missing).push(`${id}: ${action} on ${resource}`);
          }
    };
    const waiting = [...deployed.roles];
    const worker = async (): Promise<void> => {
      for (let role = waiting.shift(); role; role = waiting.shift()) await checkRole(role);
    };
    try {
      await Promise.all(Array.from({ length: rolesAtOnce }, worker));
    } catch (error) {
      if (error instanceof NotSimulated) return skipped(`IAM does not simulate here: ${error.message}`);
      throw error;
    }
    const { length } = deployed.roles;
    const text = `${length} roles: ${numbers.denied} denied, ${numbers.allowed} allowed, as in the template`;
    const figures = { ...numbers, roles: length };
    const shown = (all: string[]) => [...new Set(all)].slice(0, 5).join('; ') + (all.length > 5 ? '; …' : '');
    expect(!added.length, `allowed, but not in the template: ${shown(added)}`);
    if (missing.length) return differs(`denied, but allowed in the template: ${shown(missing)}`, figures);
    return ok(isEmulator ? `${text}; without condition keys, which this emulator does not know` : text, figures);
  },
};

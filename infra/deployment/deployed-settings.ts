import type { Finding } from '#clients/cli/account-checks.ts';
import { type Caller, query } from '#clients/cli/ask-aws.ts';
import { dataFormatOutput } from '#infra/settings/data-format.ts';
import { settingsOutput } from '#infra/settings/settings.ts';

/** What a deployment says about itself. */
export interface Deployed {
  /** As its operator set them; a former version may have had other settings. */
  settings: Record<string, unknown>;
  /** When CloudFormation last changed it: UTC, ISO 8601. */
  updatedAt: string;
  /** Of its data (settings/data-format.ts); 0 before it was recorded. */
  dataFormat: number;
}

const entities: Record<string, string> = { amp: '&', apos: "'", gt: '>', lt: '<', quot: '"' };
const unescaped = (text: string): string =>
  text.replaceAll(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (all, decimal, hexadecimal, name) => {
    if (decimal) return String.fromCodePoint(Number(decimal));
    return hexadecimal ? String.fromCodePoint(Number.parseInt(hexadecimal, 16)) : (entities[name] ?? all);
  });

/** Text of the first element of that name. */
export const textOf = (xml: string, name: string): string | undefined => {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  return text === undefined ? undefined : unescaped(text);
};

/** Statuses of a stack whose creation never succeeded: it has no outputs. */
const neverCreated = ['REVIEW_IN_PROGRESS', 'CREATE_FAILED', 'ROLLBACK_COMPLETE', 'ROLLBACK_FAILED'];

const describeStack = (caller: Caller, stackName: string) =>
  query('cloudformation', caller, { Action: 'DescribeStacks', StackName: stackName, Version: '2010-05-15' });

const outputIn = (text: string, name: string): string | undefined => {
  const outputs = [...text.matchAll(/<member>(?:(?!<member>).)*?<\/member>/gs)].map(([member]) => member);
  const output = outputs.find((member) => textOf(member, 'OutputKey') === name);
  return output && textOf(output, 'OutputValue');
};

/** @returns a finding if the stack cannot be read, or has no such output */
export const stackOutput = async (caller: Caller, stackName: string, name: string): Promise<string | Finding> => {
  const { ok, text } = await describeStack(caller, stackName);
  const value = ok ? outputIn(text, name) : undefined;
  if (value) return value;
  return {
    what: ok
      ? `Stack ${stackName} in ${caller.region} has no output ${name}.`
      : `Stack ${stackName} in ${caller.region} cannot be read (${textOf(text, 'Message') ?? text.slice(0, 200)}).`,
    todo: ok
      ? 'Deploy this version first.'
      : 'Check region, name of the stack, and permission for cloudformation:DescribeStacks.',
  };
};

const stackSettings = async (caller: Caller, stackName: string): Promise<Deployed | Finding | undefined> => {
  const { ok, text } = await describeStack(caller, stackName);
  if (!ok) {
    const reason = textOf(text, 'Message') ?? text.slice(0, 200);
    if (reason.includes('does not exist')) return undefined;
    return {
      what: `Settings: those of stack ${stackName} cannot be read (${reason}).`,
      todo: 'Get permission for cloudformation:DescribeStacks on it. Or run npx cdk deploy --all with all settings: CloudFormation refuses if they differ from the deployed ones.',
    };
  }
  if (neverCreated.includes(textOf(text, 'StackStatus') ?? '')) return undefined;
  const value = outputIn(text, settingsOutput);
  const updatedAt = textOf(text, 'LastUpdatedTime') ?? textOf(text, 'CreationTime');
  if (!value || !updatedAt) {
    return {
      what: `Settings: stack ${stackName} in ${caller.region} has no output ${settingsOutput}.`,
      todo: 'If an earlier version deployed it, run npx cdk deploy --all once with all its settings. If it is another application, choose -c stackName=….',
    };
  }
  const settings = JSON.parse(value) as Record<string, unknown>;
  return { settings, updatedAt, dataFormat: Number(outputIn(text, dataFormatOutput) ?? 0) };
};

/**
 * Settings of the deployed platform. After the platform's stack was deleted, those of its data. Undefined if neither was
 * deployed.
 * @returns a finding if they cannot be read
 */
export const deployedSettings = async (caller: Caller, stackName: string): Promise<Deployed | Finding | undefined> =>
  (await stackSettings(caller, stackName)) ?? (await stackSettings(caller, `${stackName}-Data`));

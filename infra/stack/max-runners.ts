import * as v from 'valibot';
import type { SlotLimits } from '#run/slots.ts';
import { texts } from './text-list.ts';

/** Settings that limit the number of runners. */

const most = 1000;
const number = `must be a number from 1 to ${most}`;
const isNumber = (text: string): boolean => /^\d{1,4}$/.test(text) && Number(text) >= 1 && Number(text) <= most;

export const maxRunnerEntries = {
  /** Maximum number of runs that plan or apply at the same time; no maximum by default. Others wait for their turn. */
  maxRunners: v.optional(
    v.pipe(
      v.union([v.number(), v.pipe(v.string(), v.check(isNumber, number), v.transform(Number))]),
      v.integer(number),
      v.minValue(1, number),
      v.maxValue(most, number),
    ),
  ),
  /** The same for each organization, and for single ones: `5`, or `5,acme:20`. */
  organizationMaxRunners: v.optional(
    v.pipe(
      v.union([
        texts,
        v.pipe(
          v.number(),
          v.transform((each) => [String(each)]),
        ),
      ]),
      v.check(
        (parts) => parts.every((part) => isNumber(part.replace(/^[A-Za-z0-9_-]{3,40}:/, ''))),
        'must be a number for each organization, and name:number for single ones, e.g. 5,acme:20',
      ),
      v.check(
        (parts) => new Set(parts.map(nameIn)).size === parts.length,
        'must have one number for each organization, and at most one for all others',
      ),
    ),
  ),
};

/** Lower case; undefined for all organizations that are not named. */
const nameIn = (part: string): string | undefined =>
  part.includes(':') ? part.split(':')[0]?.toLowerCase() : undefined;

const schema = v.object(maxRunnerEntries);
export type MaxRunnerChoices = v.InferOutput<typeof schema>;

/** The variable `MAX_RUNNERS` of functions; empty for none. */
export const maxRunnerVariable = ({ maxRunners, organizationMaxRunners = [] }: MaxRunnerChoices): string => {
  const numbers = organizationMaxRunners.map((part) => [nameIn(part), Number(part.split(':').at(-1))] as const);
  const named = numbers.filter(([name]) => name !== undefined);
  const limits: SlotLimits = {
    platform: maxRunners,
    organization: numbers.find(([name]) => name === undefined)?.[1],
    organizations: named.length ? Object.fromEntries(named) : undefined,
  };
  return maxRunners || numbers.length ? JSON.stringify(limits) : '';
};

/**
 * {@link maxRunnerVariable} from the environment of the local platform.
 * @throws {Error} that names the variable
 */
export const localMaxRunnerVariable = (environment: NodeJS.ProcessEnv): string => {
  const variables = {
    maxRunners: 'STEPFORM_MAX_RUNNERS',
    organizationMaxRunners: 'STEPFORM_ORGANIZATION_MAX_RUNNERS',
  } as const;
  const choices = Object.fromEntries(
    Object.entries(variables).flatMap(([name, variable]) =>
      environment[variable] ? [[name, environment[variable]]] : [],
    ),
  );
  const { success, output, issues = [] } = v.safeParse(schema, choices);
  if (success) return maxRunnerVariable(output);
  const named = issues.map((issue) => {
    const variable = variables[v.getDotPath(issue) as keyof typeof variables];
    return `${variable} ${issue.issues?.at(-1)?.message ?? issue.message} (it is ${environment[variable]})`;
  });
  throw new Error(named.join('; '));
};

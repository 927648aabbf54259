import * as v from 'valibot';
import { readHours, type WarmRunners } from '#run/warm-runners.ts';

/** Settings of warm runners. */

const hours = v.pipe(
  v.string(),
  v.check(
    (text) => readHours(text) !== undefined,
    'must be days, hours and a time zone, e.g. Mon-Fri 08:00-18:00 Europe/Berlin',
  ),
);

export const warmRunnerEntries = {
  /** Number of warm runners; 0 turns them off without any reads or writes. */
  warmRunners: v.optional(
    v.pipe(
      v.union([v.number(), v.pipe(v.string(), v.regex(/^\d+$/, 'must be a whole number'), v.transform(Number))]),
      v.integer('must be a whole number'),
      v.minValue(0, 'must be at least 0'),
      v.maxValue(50, 'must be at most 50'),
    ),
    0,
  ),
  /** When warm runners are kept; always, by default. */
  warmRunnerHours: v.optional(hours),
};

const schema = v.object(warmRunnerEntries);
export type WarmRunnerChoices = v.InferOutput<typeof schema>;

/** A warm runner's polling costs money on AWS, and nothing on one machine. */
const pollMs = 1000;
const localPollMs = 100;

export const warmRunnerProblems = (settings: Record<string, unknown>): string[] =>
  settings.warmRunnerHours !== undefined && !Number(settings.warmRunners) ? ['warmRunnerHours: needs warmRunners'] : [];

/** The variable `WARM_RUNNERS` of functions; empty for none. */
export const warmRunnerVariable = (
  { warmRunners: count, warmRunnerHours }: WarmRunnerChoices,
  more: Partial<WarmRunners> = {},
): string =>
  count
    ? JSON.stringify({ count, hours: warmRunnerHours && readHours(warmRunnerHours), pollMs, ...more } as WarmRunners)
    : '';

/**
 * {@link warmRunnerVariable} from the environment of the local platform.
 * @throws {Error} that names the variable
 */
export const localWarmRunnerVariable = (environment: NodeJS.ProcessEnv): string => {
  const variables = { warmRunners: 'STEPFORM_WARM_RUNNERS', warmRunnerHours: 'STEPFORM_WARM_RUNNER_HOURS' } as const;
  const choices = Object.fromEntries(
    Object.entries(variables).flatMap(([name, variable]) =>
      environment[variable] ? [[name, environment[variable]]] : [],
    ),
  );
  const { success, output, issues = [] } = v.safeParse(schema, choices);
  const problems = [
    ...issues.map((issue) => `${v.getDotPath(issue)}: ${issue.issues?.at(-1)?.message ?? issue.message}`),
    ...warmRunnerProblems(choices),
  ];
  if (problems.length || !success) {
    const isName = (word: string): word is keyof typeof variables => Object.hasOwn(variables, word);
    throw new Error(problems.join('; ').replaceAll(/\b\w+\b/g, (word) => (isName(word) ? variables[word] : word)));
  }
  return warmRunnerVariable(output, { pollMs: localPollMs });
};

import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longer than others of their size, by which Vitest orders files without a history; longest first. */
export const long = [
  'test/clients/web/browser/actions.test.ts',
  'test/clients/web/browser/accessible.test.ts',
  'test/clients/web/browser/environments.test.ts',
  'test/e2e/verify.test.ts',
  'test/e2e/environments-session.test.ts',
  'test/version-control/e2e/gitea-killed.test.ts',
  'test/version-control/e2e/gitea-pushes.test.ts',
  'test/api/foreign-ids.test.ts',
  'test/environments/lost-answers.test.ts',
  'test/infra/synth.test.ts',
  'test/package/package.test.ts',
  'test/package/construct.test.ts',
  'test/infra/openapi.test.ts',
  'test/api/who-may.test.ts',
  'test/runner/program/failures.test.ts',
  'test/runner/program/plan-and-apply.test.ts',
  'test/runner/program/signals.test.ts',
  'test/runner/program/state-changes.test.ts',
  'test/runner/program/lost-state.test.ts',
  'test/runner/program/delivery.test.ts',
  'test/lifecycle/queue.test.ts',
  'test/fuzz/fuzz.test.ts',
  'test/fuzz/random.test.ts',
];

/** Files that mostly wait for time limits: the next project's files use the processor meanwhile. */
const waiting = ['test/e2e/backup.test.ts', 'test/e2e/faults.test.ts'];

const order = ['browser', 'e2e', 'unit'];

const rank = ({ moduleId }: TestSpecification): number => {
  const isIn = (name: string): boolean => moduleId.endsWith(`/${name}`);
  const at = long.findIndex(isIn);
  return at < 0 ? long.length + 1 + waiting.findIndex(isIn) : at;
};

/** Starts with the longest files: one that starts last leaves a core idle until it ends. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // Workers serve one project, then the next one.
    const projectOf = ({ project }: TestSpecification): number => order.indexOf(project.name);
    return (await super.sort(files)).sort((a, b) => projectOf(a) - projectOf(b) || rank(a) - rank(b));
  }
}

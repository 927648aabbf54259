import { expect, it } from 'vitest';
import type { Resource } from '#clients/client/client.ts';
import { RunAlerts, startedBy } from '#clients/web/text/needs.ts';

const run = (id: string, status: string, { confirmable = false, may = true, by = 'user-1' } = {}): Resource<'runs'> =>
  ({
    id,
    type: 'runs',
    attributes: {
      status,
      actions: { 'is-confirmable': confirmable },
      permissions: { 'can-apply': may, 'can-override-policy-check': may },
      'status-timestamps': {},
    },
    relationships: { 'created-by': { data: { type: 'users', id: by } } },
  }) as unknown as Resource<'runs'>;

const waiting = (id: string, more = {}) => run(id, 'planned', { confirmable: true, ...more });
const none = async () => undefined;
const idsOf = (alerts: { run: { id: string } }[]) => alerts.map(({ run: { id } }) => id);

it('each run causes one notification, and the initial state none', async () => {
  const alerts = new RunAlerts();
  expect(await alerts.look([waiting('a'), run('b', 'planning')], none)).toEqual([]);
  expect(idsOf(await alerts.look([waiting('a'), waiting('b')], none))).toEqual(['b']);
  expect(await alerts.look([waiting('a'), waiting('b')], none)).toEqual([]);
});

it('a run that waits for another decision causes another notification', async () => {
  const alerts = new RunAlerts();
  await alerts.look([], none);
  expect(idsOf(await alerts.look([run('a', 'policy_override')], none))).toEqual(['a']);
  await alerts.look([run('a', 'cost_estimating')], none);
  expect((await alerts.look([waiting('a')], none)).map(({ status }) => status)).toEqual(['Needs Confirmation']);
});

it('failures cause a notification, other ends and decisions of other users do not', async () => {
  const alerts = new RunAlerts();
  await alerts.look([run('a', 'planning'), run('b', 'planning'), run('c', 'planning')], none);
  const ends: Record<string, string> = { a: 'errored', b: 'applied' };
  const ended = async (id: string) => run(id, ends[id] ?? '');
  const told = await alerts.look([waiting('c', { may: false })], ended);
  expect(told.map(({ run: { id }, status }) => [id, status])).toEqual([['a', 'Plan Errored']]);
});

it('runs that others started cause no notification', () => {
  expect(
    idsOf(startedBy([waiting('a'), waiting('b', { by: 'user-2' })], 'user-1').map((one) => ({ run: one }))),
  ).toEqual(['a']);
});

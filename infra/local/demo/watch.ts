import { stripVTControlCharacters } from 'node:util';
import { type Client, followLog, isFinalRun, type Resource } from '../../../functions/cli/client.ts';
import { bold, dim, green, red, yellow } from './print.ts';

const names: Record<string, string> = {
  pending: 'Pending',
  plan_queued: 'Plan queued',
  planning: 'Planning',
  planned: 'Planned',
  confirmed: 'Confirmed',
  apply_queued: 'Apply queued',
  applying: 'Applying',
  applied: 'Applied',
  planned_and_finished: 'Planned and finished',
  errored: 'Errored',
  discarded: 'Discarded',
  canceled: 'Canceled',
};

/** Shows a run as it goes: each status change, Terraform's own words, and a confirmation when it asks for one. */
export const watchRun = async (client: Client, created: Resource): Promise<Resource> => {
  const begin = Date.now();
  let run = created;
  let shown = '';
  const logs: Partial<Record<'plan' | 'apply', Promise<void>>> = {};
  const say = (text: string) =>
    console.log(`${dim(`${((Date.now() - begin) / 1000).toFixed(2).padStart(6)} s`)}  ${text}`);

  /** Terraform colours what it says; a file or a pipe gets the words alone. */
  const quote = (line: string) =>
    console.log(`          ${dim('│')} ${process.stdout.isTTY ? line : stripVTControlCharacters(line)}`);

  const show = async (phase: 'plan' | 'apply'): Promise<void> => {
    const url = (await client.phase(run, phase)).attributes['log-read-url'];
    let rest = '';
    for await (const text of followLog(url, () => isFinalRun(run))) {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) quote(line);
    }
    if (rest) quote(rest);
  };

  for (;;) {
    const { status, actions } = run.attributes;
    if (status !== shown) {
      shown = status;
      // What Terraform said comes before what came of it.
      if (status !== 'planning') await logs.plan;
      if (isFinalRun(run)) await logs.apply;
      const colour = status === 'applied' ? green : status === 'errored' ? red : bold;
      say(actions['is-confirmable'] ? yellow('Needs confirmation') : colour(names[status] ?? status));
      if (status === 'planning') logs.plan ??= show('plan');
      if (status === 'applying') {
        logs.plan ??= show('plan');
        logs.apply ??= show('apply');
      }
    }
    if (isFinalRun(run)) break;
    if (actions['is-confirmable']) {
      const plan = (await client.phase(run, 'plan')).attributes;
      say(
        `confirming: ${plan['resource-additions']} to add, ${plan['resource-changes']} to change, ${plan['resource-destructions']} to destroy`,
      );
      await client.act(run.id, 'apply', 'Looks good');
    }
    const before = run.attributes.status;
    run = await client.waitForRun(
      run.id,
      ({ attributes }) =>
        attributes.status !== before || attributes.actions['is-confirmable'] !== actions['is-confirmable'],
    );
  }
  return run;
};

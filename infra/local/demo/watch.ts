import { stripVTControlCharacters } from 'node:util';
import { type Client, followLog, isFinalRun, type Resource } from '../../../functions/cli/client.ts';
import { displayStatus, type Tone } from '../../../functions/run/display.ts';
import { bold, dim, green, red, yellow } from './print.ts';

const colours: Partial<Record<Tone, (text: string) => string>> = { good: green, bad: red, attention: yellow };

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
      const { name, tone } = displayStatus({
        status,
        confirmable: actions['is-confirmable'],
        statusTimestamps: run.attributes['status-timestamps'],
      });
      say((colours[tone] ?? bold)(name));
      if (status === 'planning') logs.plan ??= show('plan');
      if (status === 'applying') {
        logs.plan ??= show('plan');
        logs.apply ??= show('apply');
      }
    }
    if (isFinalRun(run)) break;
    if (status === 'policy_override') await override(client, run, say);
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

/** Says which policies failed, and lets them pass. */
const override = async (client: Client, run: Resource, say: (text: string) => void): Promise<void> => {
  const [check] = await client.list(`/runs/${run.id}/policy-checks`);
  if (!check) throw new Error(`run ${run.id} asks for an override and has no policy check`);
  const { 'soft-failed': failed, passed } = check.attributes.result;
  say(`policy check: ${passed} passed, ${failed} soft-mandatory failed`);
  const output = await client.text(`/policy-checks/${check.id}/output`);
  for (const line of output.trim().split('\n')) console.log(`          ${dim('│')} ${line}`);
  say('overriding: three replicas are wanted here');
  await client.call('POST', `/policy-checks/${check.id}/actions/override`, {
    comment: 'Three replicas are wanted here',
  });
};

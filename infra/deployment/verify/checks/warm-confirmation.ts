import { type Check, differs, expect, seconds, within } from '../check.ts';
import { between } from './run.ts';

/** Then another container gets the apply (operations: ApplyOffered). */
const maximum = 10;

export const warmConfirmation: Check = {
  name: 'warm confirmation',
  proves: 'A confirmed run is applied by the container that planned it, which waits for the confirmation',
  documented: `the apply starts within ${maximum} s, without another container`,
  async perform(platform) {
    const workspace = await platform.newWorkspace('confirmed');
    const { run } = await platform.start(workspace, { 'main.tf': 'resource "terraform_data" "a" {}\n' });
    const waiting = await platform.run(run, ({ attributes }) => attributes.actions['is-confirmable']);
    expect(waiting.attributes.actions['is-confirmable'], `${run.id} is ${waiting.attributes.status}`);
    const before = await platform.containers(run.id);
    await platform.client.act(run.id, 'apply');
    const { attributes } = await platform.ended(run, 'applied');
    const took = between(attributes['status-timestamps'], 'apply-queued-at', 'applying-at');
    const figures = { seconds: took };
    const added = (await platform.containers(run.id)).filter((arn) => !before.includes(arn));
    if (added.length) return differs(`another container applied, after ${seconds(took)} (readySeconds)`, figures);
    return within(took, maximum, `apply started ${seconds(took)} after the confirmation`, figures);
  },
};

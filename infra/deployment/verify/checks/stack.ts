import { type Check, differs, expect, ok, skipped } from '../check.ts';

export const stack: Check = {
  name: 'stack',
  proves: 'Both stacks are deployed, and their last update succeeded',
  documented: 'CREATE_COMPLETE or UPDATE_COMPLETE, at most 250 resources in a stack',
  part: 'canary',
  async perform({ target: { stacks } }) {
    if (!stacks.length) return skipped('one machine has no CloudFormation');
    const resources = Math.max(...stacks.map((one) => one.resources.length));
    const text = stacks.map(({ name, status }) => `${name} ${status}`).join(', ');
    expect(!stacks.some(({ status }) => /FAILED|IN_PROGRESS/.test(status)), text);
    const isUsual = stacks.every(({ status }) => /^(CREATE|UPDATE|IMPORT)_COMPLETE$/.test(status));
    if (!isUsual) return differs(`${text}: the last update was rolled back`, { resources });
    return resources > 250
      ? differs(`${resources} resources`, { resources })
      : ok(`${resources} resources`, { resources });
  },
};

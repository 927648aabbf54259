import { describe, expect, it } from 'vitest';
import { separationIn } from '#runner/program/settings.ts';
import { notKeptApart } from '#runner/program/terraform/separation.ts';
import { isRoot } from './new-users.ts';

describe('the report of missing separation', () => {
  it.runIf(isRoot)('is empty as root on Linux', async () => {
    expect(await notKeptApart(separationIn({}))).toEqual([]);
  });

  it('names the platform and the remedy if Terraform runs as its user', async () => {
    const [sentence] = await notKeptApart(separationIn({ STEPFORM_TERRAFORM_USERS: 'none' }));
    expect(sentence).toMatch(
      /^Runs are not isolated from this program .*root on Linux.*let only people whom you trust/s,
    );
  });

  it('ends with the alternative to run only one organization', async () => {
    const [sentence] = await notKeptApart(separationIn({ STEPFORM_TERRAFORM_USERS: 'none' }), 'Set STEPFORM_RUNS_OF.');
    expect(sentence).toMatch(/configurations and variables\. Set STEPFORM_RUNS_OF\.$/);
  });

  it.runIf(isRoot)('names temporary folders if rooms are turned off', async () => {
    const [sentence] = await notKeptApart(separationIn({ STEPFORM_ROOMS: 'none' }));
    expect(sentence).toMatch(/no rooms: STEPFORM_ROOMS is "none"\. They share temporary folders/);
  });

  it.runIf(isRoot)('contains the failure to create a room, before any run fails', async () => {
    const [sentence] = await notKeptApart(separationIn({ STEPFORM_ROOM_FOLDERS: '/nowhere/at/all' }));
    expect(sentence).toMatch(
      /^Runs will fail here\. The room for Terraform could not be created: .*\/nowhere\/at\/all/s,
    );
  });

  it.each([
    [{ STEPFORM_ROOMS: 'off' }, 'STEPFORM_ROOMS is off'],
    [{ STEPFORM_ROOM_FOLDERS: '/tmp/shared' }, 'STEPFORM_ROOM_FOLDERS has /tmp/shared'],
    [{ STEPFORM_ROOM_FOLDERS: 'relative' }, 'STEPFORM_ROOM_FOLDERS has relative'],
  ])('rejects %o', (environment, message) => {
    expect(() => separationIn(environment)).toThrow(message);
  });
});
